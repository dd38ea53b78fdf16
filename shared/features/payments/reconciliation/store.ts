import { cachedStatement, tableOf } from '#shared/core/records/store.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { builder } from '#shared/platform/db/statements/builder.ts'
import { bigint, instant, numeric, type RowOf, selectList, text, texts, uuid, uuids } from '#shared/platform/db/statements/sql-types.ts'
import { prepareStatement, slot, statement } from '#shared/platform/db/statements/statement.ts'

const columns = {
  id: uuid.notNull,
  status: text.notNull,
  amount: numeric.notNull,
  currency: text.notNull,
  payment_record_id: uuid,
  created_at: instant.notNull,
}

/** The columns of a link that reconciliation compares. */
export type ReconciledLink = RowOf<typeof columns>

/** A page of links created in a span of time, oldest first, after the last link of the previous page. */
export const findLinksOfSpan = statement(
  'payments.findLinksOfSpan',
  `select ${selectList(columns)} from payment_links
   where workspace_id = $workspaceId
     and ($from::timestamptz is null or created_at >= $from)
     and ($before::timestamptz is null or created_at < $before)
     and (created_at, id) > ($afterTime::timestamptz, $afterId::uuid)
   order by created_at, id limit $limit`,
  {
    params: {
      workspaceId: uuid,
      /** The start of the span and its end, exclusive; without one, the span is open at that side. */
      from: instant.orNull,
      before: instant.orNull,
      afterTime: instant,
      afterId: uuid,
      limit: bigint,
    },
    columns,
  },
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
      [column, tableOf(type), column, slot('links'), slot('known')],
    )
    return prepareStatement(query, { params: { links: texts, known: uuids }, columns: strayColumns })
  })
