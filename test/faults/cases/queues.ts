import { drain } from '#test/faults/accounts.ts'
import type { FaultCase, Figures } from '#test/faults/case.ts'
import { Sender } from '#test/faults/load/sender.ts'
import { Acknowledged, workAt } from '#test/faults/queues/stations.ts'
import { openSite, type Site } from '#test/faults/site.ts'
import { until } from '#test/faults/until.ts'
import type { Org } from '#test/support/factories.ts'

const stations = 8
const kills = 10

/** Operations of a run; QUEUE_OPERATIONS makes it a long one. */
const operations = Number(process.env.QUEUE_OPERATIONS ?? 2_000)

/** Time for begun requests to be answered after the end of the load. */
const patienceMs = 60_000

/**
 * Stations scan, claim, move and add at random while APIs and workers are killed in turn. Each confirmed operation is in the history once,
 * the history proves the rows and counts, and every entry of an item into a stage with a flow made its record once.
 */
export const queueKilled: FaultCase = {
  name: 'a work queue, kill -9 of an API or a worker',
  limitSeconds: 120 + operations / 10,
  run: async (t) => {
    const site = await openSite(t)
    const path = await makeQueue(site.org)
    const sender = new Sender(
      site.apis.map(({ root }) => root),
      site.org.owner.token ?? '',
    )
    const [acknowledged, enough] = [new Acknowledged(), new AbortController()]
    let killed = 0
    const isOver = () => killed >= kills && acknowledged.operations >= operations
    const working = Array.from({ length: stations }, (_, number) =>
      workAt({ sender, acknowledged, path, isOver, enough: enough.signal }, `s${number}`),
    )
    const all = Promise.all(working)
    all.catch(() => undefined)
    for (; killed < kills; killed++) {
      const due = (operations * (killed + 1)) / (kills + 1)
      await until(() => acknowledged.operations >= due)
      const member = [...site.apis, ...site.workers][killed % 4]
      await member?.kill()
      await member?.start()
    }
    await until(isOver)
    const timer = setTimeout(() => enough.abort(), patienceMs)
    await all
    clearTimeout(timer)
    return settle(site, path, sender, acknowledged)
  },
}

/** A queue whose second stage has a limit, and creates a location for each item that enters it. */
async function makeQueue({ owner, path }: Org): Promise<string> {
  const nodes = [
    { id: 'start', type: 'trigger.manual' },
    { id: 'note', type: 'action.create_record', config: { object_type: 'locations', values: { name: '{{trigger.input.item.id}}' } } },
  ]
  const flow = await owner.post(`${path}/flows`, { name: 'Checked in', nodes, edges: [{ source: 'start', target: 'note' }] })
  const stages = [
    { key: 'in', kind: 'start' },
    { key: 'check', wip_limit: 40, on_enter: { flow_id: flow.data.id } },
    { key: 'pack' },
    { key: 'out', kind: 'terminal' },
  ]
  const settings = { on_unknown_scan: 'create', lease_seconds: 1 }
  const made = await owner.post(`${path}/queues`, { name: 'Line', stages, settings })
  if (made.status !== 201) throw new Error(made.text)
  return `${path}/queues/${made.data.id}`
}

/** Compares the responses to stations with the history, the history with the queue, and the effects of the flow with both. */
async function settle(site: Site, path: string, sender: Sender, acknowledged: Acknowledged): Promise<Figures> {
  const left = await drain(site)
  const { db, org } = site
  const { rows: marks } = await db.query<{ mark: string; entries: number }>(
    `select coalesce(scan_id, split_part(note, ':', 1)) as mark, count(*)::integer as entries from queue_history
     where workspace_id = $1 and (scan_id is not null or note <> '') group by 1`,
    [org.id],
  )
  const { rows: totals } = await db.query<{ claimed: number; entered: number }>(
    `select count(*) filter (where kind = 'claimed')::integer as claimed,
       count(*) filter (where to_stage = 'check' and kind in ('added', 'moved') and status = 'open')::integer as entered
     from queue_history where workspace_id = $1`,
    [org.id],
  )
  const [{ claimed, entered } = { claimed: 0, entered: 0 }] = totals
  const made: number = (await org.owner.get(`${org.path}/records/locations?limit=1&offset=0`)).data.total
  const found = new Map(marks.map(({ mark, entries }) => [mark, entries]))
  const names = new Set([...found.keys(), ...acknowledged.entries.keys()])
  const differences = [...names].map((mark) => (found.get(mark) ?? 0) - (acknowledged.entries.get(mark) ?? 0))
  differences.push(claimed - acknowledged.claimed, made - entered)
  const { data: proof } = await org.owner.get(`${path}/verify`)
  return {
    faults: kills,
    acknowledged: acknowledged.operations,
    lost: sum(differences.filter((difference) => difference < 0)) * -1,
    repeated: sum(differences.filter((difference) => difference > 0)),
    hung: sender.hung,
    failed: sender.failed,
    givenUp: sender.givenUp,
    slowest: sender.slowest,
    note: `${proof.added} items, ${claimed} claims, ${entered} entries into the stage with a flow`,
    wrong: [...sender.wrong, ...left, ...(proof.ok ? [] : [`The history does not prove the queue: ${JSON.stringify(proof.differences)}`])],
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)
