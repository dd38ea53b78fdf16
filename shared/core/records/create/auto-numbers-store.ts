import { tableOf } from '#shared/core/records/store.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { builder } from '#shared/platform/db/statements/builder.ts'
import { buildStatement, type Statement, sql } from '#shared/platform/db/statements/statement.ts'

/** The next number of a period. Values: workspace, field, period. */
export const findNextNumber = sql('next_number', 'select next from field_numbers where workspace_id = $1 and field_id = $2 and period = $3')

/** Makes the next number of a period at least this one. Values: workspace, field, period, number. */
export const skipNumbers = sql(
  'skip_numbers',
  `update field_numbers set next = greatest(next, $4) where workspace_id = $1 and field_id = $2 and period = $3`,
)

/** Which of the given texts records hold in a unique field's column. */
export const heldTexts = (type: RecordType, column: string, texts: readonly string[]): Statement =>
  buildStatement(
    // The second condition lets PostgreSQL use the unique index, which is partial: it holds no empty text.
    builder.raw(`select ?? as text from ? where ?? = any(?) and ?? <> ''`, [
      column,
      tableOf(type),
      column,
      builder.raw('?::text[]', [texts as never]),
      column,
    ]),
  )

/** The counter of an auto-numbered field in one period. */
interface NumberCounter {
  readonly workspaceId: string
  readonly fieldId: string
  /** Empty when numbers never restart. */
  readonly period: string
}

const take = sql(
  'take_numbers',
  `insert into field_numbers as counter (workspace_id, field_id, period, next) values ($1, $2, $3, 1 + $4)
   on conflict (workspace_id, field_id, period) do update set next = counter.next + $4
   returning next - $4 as first`,
)

// Outside a transaction the counter's commit does not wait for the disk; otherwise every creation would wait for the previous one. This is
// safe: the write-ahead log is written in order, so once the record with the number is on disk, the counter is too. An earlier crash loses
// both.
const takeAlone = sql(
  'take_numbers_alone',
  `with relaxed as materialized (select set_config('synchronous_commit', 'off', true))
   insert into field_numbers as counter (workspace_id, field_id, period, next)
   select $1, $2, $3, 1 + $4::bigint from relaxed
   on conflict (workspace_id, field_id, period) do update set next = counter.next + $4
   returning next - $4 as first`,
)

/** Takes `count` consecutive numbers from the counter and returns the first. Numbers whose record is not written remain gaps. */
export async function allocateNumbers(db: Executor, { workspaceId, fieldId, period }: NumberCounter, count: number): Promise<number> {
  const statement = 'inTransaction' in db ? take : takeAlone
  // Repeatable: unused numbers only leave a gap.
  const taking = { ...statement(workspaceId, fieldId, period, count), repeatable: true as const }
  const [row] = await db.query<{ first: number }>(taking)
  if (!row) throw new Error('The statement of a counter returned no row')
  return row.first
}
