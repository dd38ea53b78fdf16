import type { StoredRecord } from '#shared/core/records/record.ts'
import { cachedStatement, tableOf } from '#shared/core/records/store.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { builder } from '#shared/platform/db/statements/builder.ts'
import { type StatementTemplate, slot, sql } from '#shared/platform/db/statements/statement.ts'

/** A link as far as it is reconciled. */
export interface ReconciledLink {
  readonly id: string
  readonly status: string
  readonly amount: string
  readonly currency: string
  readonly payment_record_id: string | null
  readonly created_at: string
}

/** Links made in a span of days of a time zone, oldest first, after one. Values: workspace, from or null, to or null, time zone, time, id, how many. */
export const findLinksOfSpan = sql(
  'find_payment_links_of_span',
  `select id, status, amount, currency, payment_record_id, created_at from payment_links
   where workspace_id = $1
     and ($2::date is null or created_at >= ($2::date)::timestamp at time zone $4)
     and ($3::date is null or created_at < ($3::date + 1)::timestamp at time zone $4)
     and (created_at, id) > ($5::timestamptz, $6::uuid)
   order by created_at, id limit $7`,
)

/** A payments record that nobody signed in has made, and the link that it names. */
export type StrayRecord = Pick<StoredRecord, 'id'> & { readonly link_id: string }

/**
 * The payments records that the platform has made and that name one of these links, but none of these payments' records. Slots: links as
 * text, known records.
 */
export const findStrayRecords = (type: RecordType): StatementTemplate =>
  cachedStatement(type, 'stray payments', () => {
    const column = type.fieldByKey.get('link_id')?.column ?? 'id'
    return builder.raw(
      'select id, ??::text as link_id from ? where created_by is null and ??::text = any(?::text[]) and not (id = any(?::uuid[])) order by id',
      [column, tableOf(type), column, slot('links'), slot('known')] as never,
    )
  })
