import type { Executor } from '#shared/platform/db/database.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'

/** One run of an auto-numbered field's numbers. */
export interface NumberCounter {
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

// Outside a transaction the counter's commit does not wait for the disk, or every creation would wait for the one before. That is safe: the
// write-ahead log is written in order, so once the record that carries the number is on the disk, the counter is too, and a crash before
// that loses both.
const takeAlone = sql(
  'take_numbers_alone',
  `with relaxed as materialized (select set_config('synchronous_commit', 'off', true))
   insert into field_numbers as counter (workspace_id, field_id, period, next)
   select $1, $2, $3, 1 + $4::bigint from relaxed
   on conflict (workspace_id, field_id, period) do update set next = counter.next + $4
   returning next - $4 as first`,
)

/** Takes `count` numbers that nobody else gets, and returns the first. Numbers whose record is not written afterwards are left out. */
export async function allocateNumbers(db: Executor, { workspaceId, fieldId, period }: NumberCounter, count: number): Promise<number> {
  const statement = 'inTransaction' in db ? take : takeAlone
  // Numbers that are taken and not used are left out, so taking others does no harm.
  const taking = { ...statement(workspaceId, fieldId, period, count), repeatable: true as const }
  const [row] = await db.query<{ first: number }>(taking)
  if (!row) throw new Error('The statement of a counter returned no row')
  return row.first
}
