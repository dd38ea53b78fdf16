import { text } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

/**
 * One advisory lock per ledger, held until the end of the transaction. A posting takes it shared, in `open_ledger`, and reads its instant
 * afterwards. Work that depends on all postings up to now takes it exclusively: a seal, a closed date (in `check_book_settings`), a report as of
 * an instant, the month sums, deleting an account. Such work waits for the postings in progress, and no later posting gets an earlier
 * instant. Both functions are in migrations/0008-accounting.ts.
 */

/** Waits for the postings in progress, and blocks new ones until this transaction ends. */
export const lockAgainstPosting = statement(
  'accounting.lockAgainstPosting',
  `select from pg_advisory_xact_lock(hashtextextended('ledger ' || $workspaceId, 0))`,
  { params: { workspaceId: text } },
)
