import { tableOf } from '#shared/core/records/store.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { declareTypeReference } from '#shared/platform/db/database-errors.ts'
import { builder } from '#shared/platform/db/statements/builder.ts'
import { bigint, integer, type ParamsOf, text, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { buildStatement, statement } from '#shared/platform/db/statements/statement.ts'

declareTypeReference('field_numbers_workspace_id_field_id_fkey')

/** Parameters of the counter of an auto-numbered field in one period, which is empty when numbers never restart. */
const counterParams = { workspaceId: uuid, fieldId: uuid, period: text }
export type NumberCounter = ParamsOf<typeof counterParams>

/** The next number of a period. */
export const findNextNumber = statement(
  'records.findNextNumber',
  'select next from field_numbers where workspace_id = $workspaceId and field_id = $fieldId and period = $period',
  { params: counterParams, columns: { next: bigint.notNull } },
)

/** Makes the next number of a period at least this one. */
export const skipNumbers = statement(
  'records.skipNumbers',
  `update field_numbers set next = greatest(next, $next)
   where workspace_id = $workspaceId and field_id = $fieldId and period = $period`,
  { params: { ...counterParams, next: bigint } },
)

/** Which of the given texts records hold in a unique field's column. */
export const heldTexts = (type: RecordType, column: string, texts: readonly string[]) =>
  buildStatement(
    // The second condition lets PostgreSQL use the unique index, which is partial: it holds no empty text.
    builder.raw(`select ?? as text from ? where ?? = any(?) and ?? <> ''`, [
      column,
      tableOf(type),
      column,
      builder.raw('?::text[]', [[...texts]]),
      column,
    ]),
    { text },
  )

const takeNumbers = statement(
  'records.takeNumbers',
  `insert into field_numbers as counter (workspace_id, field_id, period, next) values ($workspaceId, $fieldId, $period, 1 + $count)
   on conflict (workspace_id, field_id, period) do update set next = counter.next + $count
   returning next - $count as first`,
  { params: { ...counterParams, count: integer }, columns: { first: bigint.notNull } },
)

// Outside a transaction the counter's commit does not wait for the disk; otherwise every creation would wait for the previous one. This is
// safe: the write-ahead log is written in order, so once the record with the number is on disk, the counter is too. An earlier crash loses
// both.
const takeNumbersAlone = statement(
  'records.takeNumbersAlone',
  `with relaxed as materialized (select set_config('synchronous_commit', 'off', true))
   insert into field_numbers as counter (workspace_id, field_id, period, next)
   select $workspaceId, $fieldId, $period, 1 + $count::bigint from relaxed
   on conflict (workspace_id, field_id, period) do update set next = counter.next + $count
   returning next - $count as first`,
  { params: { ...counterParams, count: bigint }, columns: { first: bigint.notNull } },
)

/** Takes `count` consecutive numbers from the counter and returns the first. Numbers whose record is not written remain gaps. */
export async function allocateNumbers(db: Executor, counter: NumberCounter, count: number): Promise<number> {
  const take = 'inTransaction' in db ? takeNumbers : takeNumbersAlone
  // Repeatable: unused numbers only leave a gap.
  const [row] = await db.query({ ...take({ ...counter, count }), repeatable: true })
  if (!row) throw new Error('The statement of a counter returned no row')
  return row.first
}
