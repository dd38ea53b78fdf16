import { cachedStatement, tableOf } from '#shared/core/records/store.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { builder } from '#shared/platform/db/statements/builder.ts'
import { type RowOf, text, texts, uuid, uuids } from '#shared/platform/db/statements/sql-types.ts'
import { prepareStatement, slot, sql } from '#shared/platform/db/statements/statement.ts'

/** The columns of a link that reconciliation compares. */
export interface ReconciledLink {
  readonly id: string
  readonly status: string
  readonly amount: string
  readonly currency: string
  readonly payment_record_id: string | null
  readonly created_at: string
}

/**
 * A page of links created in a span of days, oldest first. Values: workspace, first day or null, last day or null, time zone of the days,
 * creation time and id of the previous page's last link, page size.
 */
export const findLinksOfSpan = sql(
  'find_payment_links_of_span',
  `select id, status, amount, currency, payment_record_id, created_at from payment_links
   where workspace_id = $1
     and ($2::date is null or created_at >= ($2::date)::timestamp at time zone $4)
     and ($3::date is null or created_at < ($3::date + 1)::timestamp at time zone $4)
     and (created_at, id) > ($5::timestamptz, $6::uuid)
   order by created_at, id limit $7`,
)

const strayColumns = { id: uuid.notNull, link_id: text }

/** A payments record created by the platform, and the link that it names. */
export type StrayRecord = RowOf<typeof strayColumns>

/**
 * The payments records that the platform created and that name one of the given links, except the known ones, which belong to reported
 * payments. `links` are ids of links, `known` ids of records.
 */
export const findStrayRecords = (type: RecordType) =>
  cachedStatement(type, 'stray payments', () => {
    const column = type.fieldByKey.get('link_id')?.column ?? 'id'
    const query = builder.raw(
      'select id, ??::text as link_id from ? where created_by is null and ??::text = any(?::text[]) and not (id = any(?::uuid[])) order by id',
      [column, tableOf(type), column, slot('links'), slot('known')] as never,
    )
    return prepareStatement(query, { params: { links: texts, known: uuids }, columns: strayColumns })
  })
