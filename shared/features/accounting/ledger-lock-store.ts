import { sql } from '#shared/platform/db/statements/statement.ts'

// One lock for each ledger, held until its transaction ends. Whoever posts holds it shared and dates the entry after that; whoever fixes
// what the books said until now (a seal, a closed date, a report as of an instant, an account that goes) takes it alone, and so comes
// after every posting that was on its way and before every other. Postings take it in open_ledger, closed dates in settle_books
// (migrations/0025-ledger.ts).

/** Waits for every posting on its way and holds up others until this transaction ends. Values: workspace. */
export const lockAgainstPosting = sql('lock_ledger', `select pg_advisory_xact_lock(hashtextextended('ledger ' || $1, 0))`)
