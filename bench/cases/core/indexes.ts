import type { Bench, Case, Group, Side } from '#bench/case.ts'
import { filters, pathOf } from '#bench/cases/core/records.ts'
import { dropIndexes } from '#bench/data/indexes.ts'
import type { Pipeline } from '#bench/data/pipeline.ts'
import { awaitsVacuum } from '#bench/data/vacuum.ts'
import { sideOf } from '#bench/load.ts'
import { startWorker } from '#bench/servers/worker.ts'
import { type ListedIndex, listIndexes } from '#shared/core/types/indexes/list-indexes.ts'
import { Database } from '#shared/platform/db/database.ts'

/** Number of sequential searches before the measurement, and in it. */
const searches = { before: 999, counted: 101 }

/** The search of the nth request in a type with this many records. */
const queries: Readonly<Record<string, (index: number, records: number) => string>> = {
  'filter, one in 200': (index) => filters(['stage', 'eq', `stage-${index % 200}`]),
  'filter, one record': (index, records) => filters(['email', 'eq', `person${any(index, records)}@example.com`]),
  'range, one in 100': (index) =>
    filters(['amount', 'gte', String((index * 37) % 990)], ['amount', 'lt', String(((index * 37) % 990) + 10)]),
  // One index of both fields serves the count and the order.
  'two fields, sorted': (index) =>
    `${filters(['stage', 'eq', `stage-${index % 200}`], ['amount', 'gte', String((index * 37) % 500)])}&sort=amount&dir=desc`,
  'contains, rare letters': (index, records) => filters(['email', 'contains', `${any(index, records)}@`]),
  'contains, common letters': (index, records) => filters(['email', 'contains', `person${any(index, records)}@`]),
  q: (index, records) => `q=${encodeURIComponent(`deal ${any(index, records)}`)}`,
  sorted: () => 'sort=due&dir=desc',
}

const any = (index: number, records: number): number => 1 + ((index * 7_919) % records)

/**
 * Indexes that follow use. Types begin without any; from the thousandth on, a search of the largest type may take twice as long as one of
 * the smallest. `amount` is how many of the first 999 took three times as long as the measured ones.
 */
export const indexes: Group = {
  name: 'indexes',
  cases: async (bench) => {
    const { sizes } = bench.loaded
    const [small, large] = [sizes[0], sizes.at(-1) ?? sizes[0]]
    const db = new Database(bench.databaseUrl, { connections: 1, name: 'bench indexes', statementTimeoutMs: 60_000 })
    bench.atEnd(() => db.close())
    for (const size of [small, large]) await dropIndexes(db, size)
    await startWorker(bench, 'schedule')
    return Object.entries(queries).map(([name, query]): Case => {
      const run = (size: Pipeline) => () => searchOften(bench, db, size, (index) => `${pathOf(size)}?${query(index, size.records)}`)
      const figures = [small, large].map(({ records }) => records.toLocaleString('en')).join(' → ')
      const aims = { ratioAtMost: 2 }
      return { name: `${name}, ${figures}`, unit: 'slow of 999', rounds: 1, floor: run(small), kontor: run(large), compares: 'p50Ms', aims }
    })
  },
}

async function searchOften({ kontorUrl, loaded }: Bench, db: Database, size: Pipeline, path: (index: number) => string): Promise<Side> {
  const headers = { authorization: `Bearer ${loaded.token}` }
  const times: number[] = []
  const search = async () => {
    const started = performance.now()
    const answer = await fetch(kontorUrl + path(times.length), { headers })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`A search answered ${answer.status}: ${text.slice(0, 300)}`)
    times.push(performance.now() - started)
  }
  for (let index = 0; index < searches.before; index++) await search()
  await awaitIndexes(db, size)
  const before = times.length
  for (let index = 0; index < searches.counted; index++) await search()
  const side = sideOf(times.slice(before), 1)
  return { ...side, amount: times.slice(0, before).filter((time) => time > 3 * side.p50Ms).length }
}

/** The delay until uses are written, with a margin. */
const gatherMs = 6_000

/**
 * Waits until every requested index exists, since a thousand searches of few records end before an index is built, and until PostgreSQL has
 * vacuumed what other cases wrote to the type.
 */
async function awaitIndexes(db: Database, size: Pipeline): Promise<void> {
  const isOpen = ({ state }: ListedIndex) => state === 'wanted' || state === 'building'
  do await new Promise((resolve) => setTimeout(resolve, gatherMs))
  while ((await awaitsVacuum(db, size)) || (await listIndexes(db, new Date(), null)).some(isOpen))
}
