import { setTimeout as delay } from 'node:timers/promises'
import type { Figures } from '#test/faults/case.ts'
import type { Load } from '#test/faults/load/load.ts'
import type { Promises } from '#test/faults/load/promises.ts'
import type { Site } from '#test/faults/site.ts'

/** Compares the responses to a load with the stored state, once all work is done. */
export async function settleAccounts(site: Site, load: Load, faults: number, note = ''): Promise<Figures> {
  await load.end()
  const left = await drain(site)
  const { promises, sender } = load
  const records = await recordsOf(site)
  const accounts = [
    namesAccount(promises, records),
    followersAccount(records, await countBy(site, entriesOfCreations)),
    followersAccount(records, await countBy(site, itemsOfCreations)),
    valuesAccount(promises, records, await valuesGiven(site)),
    ...(load.isNumbered ? [numbersAccount(records)] : []),
  ]
  return {
    faults,
    acknowledged: promises.acknowledged,
    lost: sum(accounts.map(({ lost }) => lost)),
    repeated: sum(accounts.map(({ repeated }) => repeated)),
    hung: sender.hung,
    failed: sender.failed,
    givenUp: sender.givenUp,
    slowest: sender.slowest,
    note,
    wrong: [...sender.wrong, ...left, ...accounts.flatMap(({ wrong = [] }) => wrong)],
  }
}

/** The counts of one kind of effect. */
interface Account {
  readonly lost: number
  readonly repeated: number
  readonly wrong?: readonly string[]
}

/** An acknowledged record exists once, and any other requested one at most once. */
function namesAccount({ names }: Promises, records: Records): Account {
  const found = Map.groupBy(records.values(), ({ name }) => name)
  const counts = [...names].map(([name, isAcknowledged]) => ({ isAcknowledged, count: found.get(name)?.length ?? 0 }))
  return {
    lost: counts.filter(({ isAcknowledged, count }) => isAcknowledged && count === 0).length,
    repeated: sum(counts.map(({ count }) => beyondOne(count))),
  }
}

const entriesOfCreations = `
  select record_id as id, count(*)::integer from audit_entries where workspace_id = $1 and action = 'record.created' group by 1`
const itemsOfCreations = 'select record_id as id, count(*)::integer from notifications where workspace_id = $1 group by 1'

/** Each record has one audit entry of its creation and one notification; a missing record has none. */
function followersAccount(records: Records, counts: ReadonlyMap<string, number>): Account {
  return {
    lost: [...records.keys()].filter((id) => !counts.has(id)).length,
    repeated: sum([...counts.values()].map(beyondOne)),
    wrong: [...counts.keys()].filter((id) => !records.has(id)).map((id) => `Something tells of record ${id}, which does not exist`),
  }
}

/** Each record has a number, and no other record has it; a number may be missing. */
function numbersAccount(records: Records): Account {
  const numbers = [...records.values()].flatMap(({ number }) => number ?? [])
  return { lost: records.size - numbers.length, repeated: numbers.length - new Set(numbers).size }
}

/**
 * A changed record got each value once, last an acknowledged value or one requested after it; and it holds the value of its audit entries.
 */
function valuesAccount({ values }: Promises, records: Records, changes: ReadonlyMap<string, readonly number[]>): Account {
  const all = [...values].map(([id, value]) => {
    const given = changes.get(id) ?? []
    return { ...value, given, last: given.at(-1) ?? -1, held: Number(records.get(id)?.address ?? -1) }
  })
  return {
    lost: sum(all.map(({ acknowledged, given }) => Math.max(0, acknowledged - new Set(given).size))),
    repeated: sum(all.map(({ given }) => given.length - new Set(given).size)),
    wrong: all.flatMap(({ last, held, acknowledged, asked }) => [
      ...(last < acknowledged || last > asked
        ? [`A record was last given ${last}, of ${acknowledged} acknowledged and ${asked} asked for`]
        : []),
      ...(held === last ? [] : [`A record holds ${held}, and its audit entries say ${last}`]),
    ]),
  }
}

const beyondOne = (count: number): number => Math.max(0, count - 1)
const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)

const drainedWithinMs = 60_000

/** Waits until no work is left, and returns what is left. */
export async function drain({ db, org }: Site): Promise<string[]> {
  const left = `
    select 'operation ' || kind as what from operations where workspace_id = $1 and status in ('queued', 'running')
    union all select 'job ' || name from pgboss.job where name <> 'dead-letters' and state in ('created', 'retry', 'active')
    union all select 'gated job' from gated_jobs
    union all select 'event without a number' from event_inbox
    union all select 'waiting delivery' from waiting_deliveries`
  for (const end = Date.now() + drainedWithinMs; ; await delay(100)) {
    const { rows } = await db.query<{ what: string }>(left, [org.id])
    if (rows.length === 0) return []
    if (Date.now() > end)
      return [...Map.groupBy(rows, ({ what }) => what)].map(([what, all]) => `${all.length} × ${what} left after a minute`)
  }
}

/** Every record as the API lists it, by its id. */
type Records = ReadonlyMap<string, { readonly name: string; readonly address?: string; readonly number?: string }>

async function recordsOf({ org }: Site): Promise<Records> {
  const records = new Map<string, { name: string; address?: string; number?: string }>()
  for (let cursor = ''; ; ) {
    const { data } = await org.owner.get(`${org.path}/records/locations?limit=200${cursor && `&cursor=${encodeURIComponent(cursor)}`}`)
    for (const { id, values } of data.records) records.set(id, values)
    if (!data.next_cursor) return records
    cursor = data.next_cursor
  }
}

async function countBy({ db, org }: Site, text: string): Promise<Map<string, number>> {
  const { rows } = await db.query<{ id: string; count: number }>(text, [org.id])
  return new Map(rows.map(({ id, count }) => [id, count]))
}

/** The values that changes gave to records, in their order, from their audit entries. */
async function valuesGiven({ db, org }: Site): Promise<Map<string, number[]>> {
  const { rows } = await db.query<{ id: string; given: number[] }>(
    `select record_id as id, array_agg((after ->> 'address')::integer order by id) as given
     from audit_entries where workspace_id = $1 and action = 'record.updated' group by 1`,
    [org.id],
  )
  return new Map(rows.map(({ id, given }) => [id, given]))
}
