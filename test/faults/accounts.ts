import { setTimeout as delay } from 'node:timers/promises'
import type { Figures } from '#test/faults/case.ts'
import type { Load } from '#test/faults/load/load.ts'
import type { Site } from '#test/faults/site.ts'

/** Holds what a load was told against what there is, once all work is done that was begun. */
export async function settleAccounts(site: Site, load: Load, faults: number, note = ''): Promise<Figures> {
  await load.end()
  const wrong = [...load.sender.wrong, ...(await drain(site))]
  const [records, entries, items, changes] = [
    await recordNames(site),
    await countBy(
      site,
      `select record_id as id, count(*)::integer from audit_entries where workspace_id = $1 and action = 'record.created' group by 1`,
    ),
    await countBy(site, `select record_id as id, count(*)::integer from notifications where workspace_id = $1 group by 1`),
    await valuesGiven(site),
  ]
  const { promises, sender } = load
  const byName = Map.groupBy(records.entries(), ([, name]) => name)
  let [lost, repeated] = [0, 0]
  for (const [name, isTold] of promises.names) {
    const found = byName.get(name)?.length ?? 0
    if (isTold && found === 0) lost += 1
    repeated += Math.max(0, found - 1)
  }
  for (const counts of [entries, items]) {
    for (const id of records.keys()) {
      const count = counts.get(id) ?? 0
      if (count === 0) lost += 1
      repeated += Math.max(0, count - 1)
    }
    for (const id of counts.keys()) if (!records.has(id)) wrong.push(`Something tells of record ${id}, which does not exist`)
  }
  for (const [id, { asked, acknowledged }] of promises.values) {
    const given = changes.get(id) ?? []
    const last = given.at(-1) ?? -1
    if (last < acknowledged || last > asked)
      wrong.push(`A record was last given ${last}, of ${acknowledged} acknowledged and ${asked} asked for`)
    lost += Math.max(0, acknowledged - new Set(given).size)
    repeated += given.length - new Set(given).size
  }
  return {
    faults,
    acknowledged: promises.acknowledged,
    lost,
    repeated,
    hung: sender.hung,
    failed: sender.failed,
    givenUp: sender.givenUp,
    slowest: sender.slowest,
    note,
    wrong,
  }
}

const drainedWithinMs = 60_000

/** Waits until no work is left, and says what is. */
async function drain({ db, org }: Site): Promise<string[]> {
  const left = `
    select 'operation ' || kind as what from operations where workspace_id = $1 and status in ('queued', 'running')
    union all select 'job ' || name from pgboss.job where name <> 'dead-letters' and state in ('created', 'retry', 'active')
    union all select 'gated job' from gated_jobs
    union all select 'dispatch' from event_outbox`
  for (const end = Date.now() + drainedWithinMs; ; await delay(100)) {
    const { rows } = await db.query<{ what: string }>(left, [org.id])
    if (rows.length === 0) return []
    if (Date.now() > end)
      return [...Map.groupBy(rows, ({ what }) => what)].map(([what, all]) => `${all.length} × ${what} left after a minute`)
  }
}

/** Every record's name by its id, as the API lists them. */
async function recordNames({ org }: Site): Promise<Map<string, string>> {
  const names = new Map<string, string>()
  for (let cursor = ''; ; ) {
    const { data } = await org.owner.get(`${org.path}/records/locations?limit=200${cursor && `&cursor=${encodeURIComponent(cursor)}`}`)
    for (const { id, values } of data.records) names.set(id, values.name)
    if (!data.next_cursor) return names
    cursor = data.next_cursor
  }
}

async function countBy({ db, org }: Site, text: string): Promise<Map<string, number>> {
  const { rows } = await db.query<{ id: string; count: number }>(text, [org.id])
  return new Map(rows.map(({ id, count }) => [id, count]))
}

/** The values that records were given by changes, in their order, as their audit entries tell. */
async function valuesGiven({ db, org }: Site): Promise<Map<string, number[]>> {
  const { rows } = await db.query<{ id: string; given: number[] }>(
    `select record_id as id, array_agg((after ->> 'address')::integer order by id) as given
     from audit_entries where workspace_id = $1 and action = 'record.updated' group by 1`,
    [org.id],
  )
  return new Map(rows.map(({ id, given }) => [id, given]))
}
