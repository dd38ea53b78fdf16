import type { Executor } from '#shared/db/database.ts'
import { type Found, foundSql, type Guard, newsSql, unguarded } from '#shared/db/guard.ts'
import { sql } from '#shared/db/statement.ts'
import type { PlatformScope } from '#shared/scope/scope.ts'

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
// that loses both. It is guarded, since a number that is taken is gone: nobody takes one who will be sent back to begin again.
const takeAlone = sql(
  'take_numbers_alone',
  `with news as materialized (${newsSql('$5', '$6')}),
   relaxed as materialized (select set_config('synchronous_commit', 'off', true)),
   taken as (
     insert into field_numbers as counter (workspace_id, field_id, period, next)
     select $1, $2, $3, 1 + $4::bigint from relaxed where not exists (select from news)
     on conflict (workspace_id, field_id, period) do update set next = counter.next + $4
     returning next - $4 as first
   )
   select first, ${foundSql} from (select) as always left join taken on true`,
)

type Taker = Pick<PlatformScope, 'db' | 'guard'>

/**
 * Takes so many numbers that nobody else gets, and returns the first; throws OutOfDate, having taken none. Those who ask outside a
 * transaction while a statement is under way are served together by the next one: otherwise they would wait for each other at the
 * counter's row.
 */
export async function takeNumbers({ db, guard }: Taker, counter: Counter, count: number): Promise<number> {
  const { workspaceId, fieldId, period } = counter
  if ('inTransaction' in db) {
    const [row] = await db.query<{ first: number }>(take(workspaceId, fieldId, period, count))
    return row?.first ?? 1
  }
  const known = lines.get(db) ?? new Map<string, Line>()
  lines.set(db, known)
  const name = `${fieldId} ${period} ${guard ? 'guarded' : ''}`
  const line = known.get(name) ?? { waiting: [], isServed: false }
  known.set(name, line)
  const asked = { count, guard, first: Promise.withResolvers<number>() }
  line.waiting.push(asked)
  if (!line.isServed) {
    const ask: Take = (total, { horizon, seen }) => db.query(takeAlone(workspaceId, fieldId, period, total, horizon, seen))
    void serve(line, ask).then(() => line.isServed || known.delete(name))
  }
  return asked.first.promise
}

/** Somebody who waits for numbers. */
interface Asked {
  readonly count: number
  readonly guard: Guard | undefined
  readonly first: PromiseWithResolvers<number>
}

/** Those who wait for numbers of one counter, all with a guard or all without. */
interface Line {
  waiting: Asked[]
  isServed: boolean
}

const lines = new WeakMap<Executor, Map<string, Line>>()

type Take = (total: number, slots: Guard['latest'] | typeof unguarded) => Promise<(Found & { readonly first: number })[]>

async function serve(line: Line, ask: Take): Promise<void> {
  line.isServed = true
  while (line.waiting.length > 0) {
    // This turn of the event loop brings more who ask.
    await new Promise(setImmediate)
    const together = line.waiting.filter(isCurrent)
    line.waiting = []
    await takeTogether(together, ask).catch((error: unknown) => {
      for (const { first } of together) first.reject(error)
    })
  }
  line.isServed = false
}

async function takeTogether(together: readonly Asked[], ask: Take): Promise<void> {
  const [one] = together
  if (!one) return
  const total = together.reduce((sum, { count }) => sum + count, 0)
  const [row] = await ask(total, one.guard?.latest ?? unguarded)
  if (!row) throw new Error('The statement of a counter answered nothing')
  one.guard?.hear(row)
  let next = row.first
  for (const { count, first } of together) {
    first.resolve(next)
    next += count
  }
}

/** Whether somebody may be served with others; one who may not is told. */
function isCurrent({ guard, first }: Asked): boolean {
  try {
    guard?.requireCurrent()
    return true
  } catch (error) {
    first.reject(error)
    return false
  }
}
