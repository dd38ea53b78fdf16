/** The columns of an item, of a table or alias `item`, that its view is made of, and those that tell whose it is. */
export const itemColumns = [
  ...['id', 'key', 'stage', 'status', 'priority', 'source', 'batch', 'record_id', 'payload', 'claimed_by', 'claim_expires_at'],
  ...['assignee_id', 'attempts', 'due_at', 'entered_stage_at', 'created_at', 'version'],
]

/** The same as SQL, behind a table or alias. */
export const itemColumnsOf = (alias: string): string => itemColumns.map((column) => `${alias}.${column}`).join(', ')

/**
 * SQL that moves a queue's counts: `deltas` is SQL of rows `(batch, stage, status, unexpected, items)`, whose items are added, of the whole
 * queue and of the batch. The workspace is $1, the queue $2. In the order of the key, so that two that need the same rows do not wait for
 * each other in a circle.
 */
export const updateCountsSql = (deltas: string): string =>
  `insert into queue_counts as kept (workspace_id, queue_id, batch, stage, status, unexpected, share, items)
   select $1::uuid, $2::uuid, part, stage, status, unexpected, pg_backend_pid() % 16, sum(items)
   from (${deltas}) as delta, unnest(case when batch = '' then array[''] else array['', batch] end) as part
   group by part, stage, status, unexpected having sum(items) <> 0
   order by part, stage, status, unexpected
   on conflict (workspace_id, queue_id, batch, stage, status, unexpected, share) do update set items = kept.items + excluded.items`

/** The columns of an entry of the history that a statement writes, in the order of `writing`'s rows. */
const historyColumns = [
  ...['item_id', 'key', 'kind', 'from_stage', 'to_stage', 'status', 'verdict', 'payload', 'scan_id', 'scanned_at', 'station'],
  ...['actor_id', 'actor_type', 'note', 'created_at', 'version', 'facts', 'event_id'],
  ...['previous_claimer_id', 'previous_claim_until'],
] as const

/** What of an entry a statement says; the others stand empty. */
type HistoryEntrySql = Readonly<Partial<Record<(typeof historyColumns)[number], string>>>

const empty: Required<HistoryEntrySql> = {
  ...{ item_id: 'null::uuid', key: `''`, kind: `''`, from_stage: 'null::text', to_stage: 'null::text', status: 'null::text' },
  ...{ verdict: 'null::text', payload: 'null::json', scan_id: 'null::text', scanned_at: 'null::timestamptz', station: 'null::text' },
  ...{ actor_id: 'null::uuid', actor_type: `'system'`, note: `''`, created_at: 'null::timestamptz', version: 'null::integer' },
  ...{ facts: `'{}'::jsonb`, event_id: 'null::uuid' },
  ...{ previous_claimer_id: 'null::uuid', previous_claim_until: 'null::timestamptz' },
}

/** The select list of entries of the history. */
export const historyEntrySql = (given: HistoryEntrySql): string => historyColumns.map((column) => given[column] ?? empty[column]).join(', ')

/** SQL that writes entries: `rows` is SQL whose columns are those of `entry`. The workspace is $1, the queue $2. */
export const insertHistorySql = (rows: string): string =>
  `insert into queue_history (workspace_id, queue_id, ${historyColumns.join(', ')})
   select $1::uuid, $2::uuid, ${historyColumns.map((column) => `row.${column}`).join(', ')} from (${rows}) as row (${historyColumns.join(', ')})`
