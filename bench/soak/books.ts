import type pg from 'pg'
import type { Place } from '#bench/soak/ledger.ts'
import { schemaOf } from '#shared/core/types/tables/table-names.ts'

/** A stored record, with the fields that a caller sets. */
export interface Row {
  readonly id: string
  readonly mark: string
  readonly number: string
  readonly notes: string
}

interface Entry {
  readonly record_id: string
  readonly action: string
  readonly notes: string | null
  readonly number: string | null
}

/** All rows of a workspace that a caller can know about. */
export async function readBooks(db: pg.Client, { id }: Place) {
  const all = async <T extends pg.QueryResultRow>(text: string): Promise<T[]> => (await db.query<T>(text.replaceAll('$1', `'${id}'`))).rows
  const columns = await all<{ key: string; column_name: string }>(
    `select fields.key, column_name from fields join record_types on record_types.id = type_id where fields.workspace_id = $1 and record_types.key = 'orders'`,
  )
  const column = (key: string) => `"${columns.find((one) => one.key === key)?.column_name}" as ${key}`
  const table = `"${schemaOf(id)}".orders`
  const rows = await all<Row>(`select id, ${['mark', 'number', 'notes'].map(column).join(', ')} from ${table}`)
  const entries = await all<Entry>(
    `select record_id, action, after ->> 'notes' as notes, after ->> 'number' as number from audit_entries
     where workspace_id = $1 and object_type = 'orders' order by id`,
  )
  const notifications = await all<{ record_id: string }>(`select record_id from notifications where workspace_id = $1`)
  const [counted] = await all<{ records: string }>(`select sum(records) as records from record_counts where workspace_id = $1`)
  const operations = await all<{ id: string; kind: string; status: string; error: string | null }>(
    `select id, kind, status, error::text from operations where workspace_id = $1`,
  )
  const runs = await all<{ id: string }>(`select id from function_runs where workspace_id = $1`)
  const created = entries.filter(({ action }) => action === 'record.created')
  const firsts = new Map(created.map(({ number }, index) => [number, index] as const).toReversed())
  return {
    rows: Map.groupBy(rows, ({ mark }) => mark),
    ids: new Set(rows.map((row) => row.id)),
    created: Map.groupBy(created, ({ record_id }) => record_id),
    updated: tally(entries.filter(({ action }) => action === 'record.updated').map(({ notes }) => notes ?? '')),
    deleted: tally(entries.filter(({ action }) => action === 'record.deleted').map(({ record_id }) => record_id)),
    notified: tally(notifications.map(({ record_id }) => record_id)),
    counted: Number(counted?.records),
    firstOf: (number: string | null) => firsts.get(number),
    operations,
    runs: tally(runs.map((run) => run.id)),
  }
}

function tally(names: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return counts
}
