import type { ItemSource, ItemStatus } from '#shared/features/queues/items/schemas.ts'
import { instant, integer, json, type RowOf, selectList, text, uuid } from '#shared/platform/db/statements/sql-types.ts'

/** Columns of an item's row that its view and its changes need. */
export const itemColumns = {
  id: uuid.notNull,
  key: text.notNull,
  stage: text.notNull,
  status: text.as<ItemStatus>().notNull,
  priority: integer.notNull,
  source: text.as<ItemSource>().notNull,
  batch: text.notNull,
  record_id: uuid,
  payload: json.as<Record<string, unknown>>().notNull,
  claimed_by: uuid,
  claim_expires_at: instant,
  assignee_id: text.notNull,
  attempts: integer.notNull,
  due_at: instant,
  entered_stage_at: instant.notNull,
  created_at: instant.notNull,
  version: integer.notNull,
}

/** These columns as SQL, each behind a table name or alias. */
export const itemColumnsOf = (alias: string): string => selectList(itemColumns, alias)

/** The claim that a change ended without its token; nulls for none. */
export const previousClaimColumns = { previous_claimer_id: uuid, previous_claim_until: instant }

/** Such a claim as answers show it: the claimer's id and the instant at which it would have expired. */
export const previousClaimOf = ({ previous_claimer_id: by, previous_claim_until: until }: RowOf<typeof previousClaimColumns>) =>
  by === null || until === null ? null : { by, expires_at: until }

/**
 * SQL that changes a queue's stored counts. `deltas` is SQL for rows `(batch, stage, status, unexpected, items)`; `items` is added to the
 * count of the whole queue and of the batch. The rows are written in the order of their key, so that concurrent statements do not deadlock.
 * The statement has the parameters `workspaceId` and `queueId`.
 */
export const updateCountsSql = (deltas: string): string =>
  `insert into queue_counts as kept (workspace_id, queue_id, batch, stage, status, unexpected, share, items)
   select $workspaceId::uuid, $queueId::uuid, part, stage, status, unexpected, pg_backend_pid() % 16, sum(items)
   from (${deltas}) as delta, unnest(case when batch = '' then array[''] else array['', batch] end) as part
   group by part, stage, status, unexpected having sum(items) <> 0
   order by part, stage, status, unexpected
   on conflict (workspace_id, queue_id, batch, stage, status, unexpected, share) do update set items = kept.items + excluded.items`

/** Columns of `queue_history` that a statement writes, in the order of its rows. */
const historyColumns = [
  ...['item_id', 'key', 'kind', 'from_stage', 'to_stage', 'status', 'verdict', 'payload', 'scan_id', 'scanned_at', 'station'],
  ...['actor_id', 'actor_type', 'note', 'created_at', 'version', 'facts', 'event_id'],
  ...['previous_claimer_id', 'previous_claim_until'],
] as const

/** SQL for the columns of a history entry; columns that are not given get the defaults of `empty`. */
type HistoryEntrySql = Readonly<Partial<Record<(typeof historyColumns)[number], string>>>

const empty: Required<HistoryEntrySql> = {
  item_id: 'null::uuid',
  key: `''`,
  kind: `''`,
  from_stage: 'null::text',
  to_stage: 'null::text',
  status: 'null::text',
  verdict: 'null::text',
  payload: 'null::json',
  scan_id: 'null::text',
  scanned_at: 'null::timestamptz',
  station: 'null::text',
  actor_id: 'null::uuid',
  actor_type: `'system'`,
  note: `''`,
  created_at: 'null::timestamptz',
  version: 'null::integer',
  facts: `'{}'::jsonb`,
  event_id: 'null::uuid',
  previous_claimer_id: 'null::uuid',
  previous_claim_until: 'null::timestamptz',
}

/** The columns of an entry about an item that stays in its stage; `item` is the name of its row. */
export const entryOfItem = (item: string): HistoryEntrySql => ({
  item_id: `${item}.id`,
  key: `${item}.key`,
  from_stage: `${item}.stage`,
  to_stage: `${item}.stage`,
  status: `${item}.status`,
})

/** The columns of an entry from the parameters `actorId`, `actorType` and `now`. */
export const entryByActor: HistoryEntrySql = { actor_id: '$actorId::uuid', actor_type: '$actorType::text', created_at: '$now::timestamptz' }

/** The columns of an entry from the parameters `verdict`, `scanId`, `scannedAt` and `station`. */
export const entryOfScan: HistoryEntrySql = {
  verdict: '$verdict::text',
  scan_id: '$scanId::text',
  scanned_at: '$scannedAt::timestamptz',
  station: '$station::text',
}

/** The select list of a history entry, in the order of `historyColumns`. */
export const historyEntrySql = (given: HistoryEntrySql): string => historyColumns.map((column) => given[column] ?? empty[column]).join(', ')

/**
 * SQL that inserts history entries; `rows` is a query whose select list is made by `historyEntrySql`, `id` is SQL of an entry's
 * id. The statement has the parameters `workspaceId` and `queueId`.
 */
export const insertHistorySql = (rows: string, id = 'uuidv7()'): string =>
  `insert into queue_history (workspace_id, queue_id, id, ${historyColumns.join(', ')})
   select $workspaceId::uuid, $queueId::uuid, ${id}, ${historyColumns.map((column) => `row.${column}`).join(', ')} from (${rows}) as row (${historyColumns.join(', ')})`
