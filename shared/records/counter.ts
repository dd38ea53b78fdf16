import type { Executor } from '#shared/db/database.ts'
import { sql } from '#shared/db/statement.ts'

/** One run of an auto-numbered field's numbers. */
export interface Counter {
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
   insert into field_numbers as counter (workspace_id, field_id, period, next) select $1, $2, $3, 1 + $4::bigint from relaxed
   on conflict (workspace_id, field_id, period) do update set next = counter.next + $4
   returning next - $4 as first`,
)

/**
 * Takes so many numbers that nobody else gets, and returns the first. Those who ask outside a transaction while a statement is under way
 * are served together by the next one: otherwise they would wait for each other at the counter's row.
 */
export function takeNumbers(db: Executor, counter: Counter, count: number): Promise<number> {
  const statement = 'inTransaction' in db ? take : takeAlone
  const ask = async (total: number) => {
    const { workspaceId, fieldId, period } = counter
    const [row] = await db.query<{ first: number }>(statement(workspaceId, fieldId, period, total))
    return row?.first ?? 1
  }
  return 'inTransaction' in db ? ask(count) : together(db, `${counter.fieldId} ${counter.period}`, count, ask)
}

/** Those who wait for numbers of one counter: what the next statement is to take, and the statement under way. */
interface Line {
  asked: number
  next: Promise<number> | undefined
  running: Promise<number> | undefined
}

const lines = new WeakMap<Executor, Map<string, Line>>()

async function together(db: Executor, name: string, count: number, ask: (total: number) => Promise<number>): Promise<number> {
  const known = lines.get(db) ?? new Map<string, Line>()
  lines.set(db, known)
  const line = known.get(name) ?? { asked: 0, next: undefined, running: undefined }
  known.set(name, line)
  const offset = line.asked
  line.asked += count
  line.next ??= sendAfter(line, ask).finally(() => {
    if (!line.next) known.delete(name)
  })
  return (await line.next) + offset
}

async function sendAfter(line: Line, ask: (total: number) => Promise<number>): Promise<number> {
  await line.running?.catch(() => undefined)
  // This turn of the event loop brings more who ask.
  await new Promise(setImmediate)
  const total = line.asked
  line.asked = 0
  line.next = undefined
  line.running = ask(total)
  return line.running
}
