import { sql } from '#shared/platform/db/statements/statement.ts'

/** An entry that was posted for a payments record, and neither reverses another nor was reversed. */
export interface PaymentEntry {
  readonly id: string
  readonly source_id: string
  /** Decimal text. */
  readonly total: string
  readonly currency: string
}

/** The active entries of payments records, in the order of their posting. Values: workspace, ids of records as text. */
export const findPaymentEntries = sql(
  'find_payment_entries',
  `select entry.id, entry.source_id, entry.total, entry.currency
   from journal_entries as entry
   where entry.workspace_id = $1 and entry.source_type = 'payment' and entry.source_id = any($2::text[]) and entry.reverses is null
     and not exists (
       select from journal_entries as reversal where reversal.workspace_id = entry.workspace_id and reversal.reverses = entry.id
     )
   order by entry.created_at, entry.id`,
)
