import type { Scope } from '#shared/access/scope.ts'
import { builder } from '#shared/db/builder.ts'
import type { Executor } from '#shared/db/database.ts'
import { slot, sql } from '#shared/db/statement.ts'
import { computeValues } from '#shared/records/compute.ts'
import { allColumns, columnsOf, type Row, recordOf, type StoredRecord } from '#shared/records/record.ts'
import { shaped, tableOf } from '#shared/records/statements.ts'
import type { Field } from '#shared/types/fields/field.ts'
import { fieldKinds } from '#shared/types/fields/kinds.ts'
import { isSameValue } from '#shared/types/fields/value.ts'
import type { RecordType } from '#shared/types/record-type.ts'

/** Records that are computed in one transaction: few enough that nobody who writes one of them waits long. */
const recordsPerStep = 500

const lowestId = '00000000-0000-0000-0000-000000000000'

/**
 * Computes the computed fields of the next records after an id, oldest first, and stores those that differ; nobody asked for the change,
 * so it writes no audit entry. Returns how many were looked at and the last one's id, undefined when none was left.
 */
export async function recomputeAfter(scope: Scope, type: RecordType, after: string): Promise<{ count: number; last: string | undefined }> {
  const page = shaped(type, 'recompute page', () =>
    builder.raw('select ? from ? where id > ? order by id limit ? for update', [
      builder.raw(
        allColumns(type)
          .map(() => '??')
          .join(', '),
        [...allColumns(type)],
      ),
      tableOf(type),
      slot('after'),
      recordsPerStep,
    ] as never),
  )
  const rows = await scope.db.query<Row>(page({ after: after || lowestId }))
  const records = rows.map((row) => recordOf(type, row))
  const changed = records.filter((record) => differs(scope, type, record))
  if (changed.length > 0) await scope.db.query(storeComputed(type, changed))
  return { count: records.length, last: records.at(-1)?.id }
}

const count = sql(
  'count_type',
  'select coalesce(sum(records), 0)::bigint as records from record_counts where workspace_id = $1 and type_id = $2',
)
/** How many records a type has. */
export async function countRecords(scope: Scope, type: RecordType): Promise<number> {
  return (await scope.db.query<{ records: number }>(count(scope.workspace.id, type.id)))[0]?.records ?? 0
}

const mark = sql('transaction_mark', 'select pg_snapshot_xmax(pg_current_snapshot())::text as mark')
/** A mark that every transaction which is open now lies before. */
export async function thisTransaction(db: Executor): Promise<string> {
  return (await db.query<{ mark: string }>(mark()))[0]?.mark ?? '0'
}

const open = sql('transactions_before', 'select pg_snapshot_xmin(pg_current_snapshot()) < $1::xid8 as open')
/** Whether a transaction before the mark is still open. */
export async function openTransactionsBefore(db: Executor, mark: string): Promise<boolean> {
  return (await db.query<{ open: boolean }>(open(mark)))[0]?.open ?? false
}

/** Computes a record anew; true when that changed a value. */
function differs(scope: Scope, type: RecordType, record: StoredRecord): boolean {
  const before = { ...record.values }
  computeValues(scope, type, record.values)
  return type.computations.some(({ field: { key } }) => !isSameValue(before[key] ?? null, record.values[key] ?? null))
}

/** One statement for all: a column of ids and one of values for each column that is computed. */
function storeComputed(type: RecordType, records: readonly StoredRecord[]) {
  const fields = type.computations.map(({ field }) => field)
  const columns = fields.flatMap((field) =>
    columnsOf(field).map((column, index) => ({ column, type: fieldKinds[field.type].columns[index] ?? 'text' })),
  )
  const statement = shaped(type, 'recompute store', () =>
    builder.raw(
      `update ? as record set ${columns.map(() => '?? = ?').join(', ')}
       from json_to_recordset(?::json) as computed (id uuid, ${columns.map(({ type: columnType }) => `?? ${columnType}`).join(', ')})
       where record.id = computed.id`,
      [
        tableOf(type),
        ...columns.flatMap(({ column }) => [column, builder.raw('computed.??', [column])]),
        slot('rows'),
        ...columns.map(({ column }) => column),
      ] as never,
    ),
  )
  return statement({ rows: JSON.stringify(records.map((record) => rowOf(record, fields))) })
}

function rowOf(record: StoredRecord, fields: readonly Field[]): Record<string, unknown> {
  const row: Record<string, unknown> = { id: record.id }
  for (const field of fields) {
    const cells = fieldKinds[field.type].toColumns(record.values[field.key] ?? null)
    for (const [index, column] of columnsOf(field).entries()) row[column] = cells[index]
  }
  return row
}
