import { sql } from '#shared/platform/db/statements/statement.ts'

/**
 * One advisory lock per ledger, held until the end of the transaction. A posting takes it shared, in `open_ledger`, and reads its instant
 * afterwards. Work that depends on all postings up to now takes it exclusively: a seal, a closed date (in `settle_books`), a report as of
 * an instant, the month sums, deleting an account. Such work waits for the postings in progress, and no later posting gets an earlier
 * instant. Both functions are in migrations/0008-accounting.ts.
 */

/** Waits for the postings in progress, and blocks new ones until this transaction ends. Values: workspace. */
export const lockAgainstPosting = sql('lock_ledger', `select pg_advisory_xact_lock(hashtextextended('ledger ' || $1, 0))`)
