import { setTimeout as delay } from 'node:timers/promises'
import type { FaultCase, Figures } from '#test/faults/case.ts'
import { openSite, type Site } from '#test/faults/site.ts'
import { startReceiver } from '#test/features/flows/receiver.ts'
import { byHand, chain } from '#test/features/flows/support.ts'
import type { Answer } from '#test/support/send-request.ts'

const kills = 8
const runsForEach = 3

/** Every run must end within this time after the last kill; a run whose job was lost is found within a minute. */
const latestMs = 150_000

type Block = readonly [id: string, type: string, config: object]

/** Workers are killed during runs of 20 steps: every run ends, and each of its effects exists once. */
export const flowKilled: FaultCase = {
  name: 'kill -9 of a worker in the middle of flows',
  limitSeconds: 420,
  run: async (t) => {
    const receiver = await startReceiver((_, response) => setTimeout(() => response.end('taken'), 20))
    t.teardown(receiver.close)
    const site = await openSite(t, { environment: { EGRESS_ALLOW: receiver.host } })
    const { flowId, blocks } = await makeFlow(site, receiver.url)
    const runIds: string[] = []
    for (let kill = 0; kill < kills; kill++) {
      for (let count = 0; count < runsForEach; count++) runIds.push(await begin(site, flowId))
      // On a busy machine the runs may have ended already.
      while (!(await isUnderWay(site))) if (!(await isOpen(site))) runIds.push(await begin(site, flowId))
      const worker = site.workers[kill % site.workers.length]
      await delay(25 * kill)
      await worker?.kill()
      await worker?.start()
    }
    const runs = await untilEnded(site, flowId, runIds)
    const keys = receiver.received.map(({ headers }) => String(headers['idempotency-key']))
    return settle(site, blocks, runs, keys)
  },
}

const nodeIds = Array.from({ length: 4 }, (_, index) => index)

/** A flow of 20 steps: four creations, four changes, four calls, four functions, an item, an entry, an event and a notice. */
async function makeFlow({ org }: Site, url: string): Promise<{ flowId: string; blocks: readonly Block[] }> {
  const make = async (path: string, body: object): Promise<Answer['data']> => {
    const { data, text } = await org.owner.post(`${org.path}/${path}`, body)
    if (!data?.id) throw new Error(text)
    return data
  }
  const stages = [
    { key: 'in', label: 'In', kind: 'start' },
    { key: 'out', label: 'Out', kind: 'terminal' },
  ]
  await make('queues', { key: 'line', name: 'Line', stages })
  const accounts = await Promise.all(
    ['1', '2'].map((code) => make('records/accounts', { values: { code, name: `Account ${code}`, kind: 'asset' } })),
  )
  const fn = await make('functions', { name: 'Twice', source: 'const handler = ({ n }) => 2 * Number(n)' })
  const quarters = nodeIds.flatMap((n): Block[] => [
    [`create${n}`, 'action.create_record', { object_type: 'locations', values: { name: '{{trigger.input}}', address: 'new' } }],
    [`change${n}`, 'action.update_record', { object_type: 'locations', record_id: `{{steps.create${n}.id}}`, values: { address: 'seen' } }],
    [`call${n}`, 'action.http_request', { url, method: 'POST', body: '{{trigger.input}}' }],
    [`function${n}`, 'action.run_function', { function_id: fn.id, input: { n: String(n) } }],
  ])
  const lines = [
    { account_id: accounts[0].id, debit: '1' },
    { account_id: accounts[1].id, credit: '1' },
  ]
  const blocks: Block[] = [
    ...quarters,
    ['item', 'action.enqueue_item', { queue_key: 'line', key: '{{trigger.input}}' }],
    ['entry', 'action.post_entry', { memo: '{{trigger.input}}', lines }],
    [
      'event',
      'action.create_event',
      { calendar_key: 'team', title: '{{trigger.input}}', start: '2030-01-01T10:00:00Z', duration_minutes: 5 },
    ],
    ['notice', 'action.notify', { title: '{{trigger.input}}', user_id: org.ownerId }],
  ]
  const flow = await make('flows', { name: 'Twenty steps', ...chain(byHand, ...blocks) })
  if (flow.problems.length > 0) throw new Error(JSON.stringify(flow.problems))
  return { flowId: flow.id, blocks }
}

let number = 0

async function begin({ org }: Site, flowId: string): Promise<string> {
  const { data, text } = await org.owner.post(`${org.path}/flows/${flowId}/run`, { input: `run ${++number}` })
  if (!data?.run_id) throw new Error(text)
  return data.run_id
}

/** Whether a run has done a step and has not ended, so that a kill may interrupt a step. */
const isUnderWay = async ({ db }: Site): Promise<boolean> =>
  (await db.query(`select from flow_runs where status = 'running' and steps > 0 limit 1`)).rows.length > 0

/** Whether a run has not ended, after a moment. */
async function isOpen({ db }: Site): Promise<boolean> {
  await delay(5)
  return (await db.query('select from flow_runs where finished_at is null limit 1')).rows.length > 0
}

/**
 * The runs once all have ended. A run whose function or call was interrupted twice fails; a person retries it, and no effect may be
 * repeated.
 */
async function untilEnded({ org }: Site, flowId: string, runIds: readonly string[]): Promise<Answer['data'][]> {
  const path = `${org.path}/flows/${flowId}/runs`
  const deadline = Date.now() + latestMs
  const ends = async (id: string): Promise<Answer['data']> => {
    for (;;) {
      const { data } = await org.owner.get(`${path}/${id}`)
      if (data.status === 'failed' && /interrupted|given up/.test(data.error))
        return ends((await org.owner.post(`${path}/${id}/retry`)).data.id)
      if (data.finished_at || Date.now() > deadline) return data
      await delay(100)
    }
  }
  const runs: Answer['data'][] = []
  for (const id of runIds) runs.push(await ends(id))
  return runs
}

const ofCreations = `from audit_entries as made where made.workspace_id = $1 and made.action = 'record.created' and made.object_type = 'locations'`

/** Every effect of runs in Kontor, by the input of the run, with the number for each run. */
const effects: Readonly<Record<string, { readonly sql: string; readonly ofRun: number }>> = {
  'records created': { sql: `select made.after ->> 'name' as input ${ofCreations}`, ofRun: 4 },
  'records changed': {
    sql: `select made.input from audit_entries as entry
      join (select made.record_id, made.after ->> 'name' as input ${ofCreations}) as made on made.record_id = entry.record_id
      where entry.workspace_id = $1 and entry.action = 'record.updated'`,
    ofRun: 4,
  },
  items: { sql: 'select key as input from queue_items where workspace_id = $1', ofRun: 1 },
  entries: { sql: 'select memo as input from journal_entries where workspace_id = $1', ofRun: 1 },
  events: { sql: 'select title as input from calendar_events where workspace_id = $1', ofRun: 1 },
  notices: { sql: 'select title as input from notifications where workspace_id = $1', ofRun: 1 },
}

async function settle(
  { db, org }: Site,
  blocks: readonly Block[],
  runs: readonly Answer['data'][],
  keys: readonly string[],
): Promise<Figures> {
  let [lost, repeated] = [0, 0]
  const wrong: string[] = []
  for (const [what, { sql, ofRun }] of Object.entries(effects)) {
    const { rows } = await db.query<{ input: string; count: number }>(
      `select input, count(*)::integer as count from (${sql}) as found where input like 'run %' group by input`,
      [org.id],
    )
    const differing = rows.filter(({ count }) => count !== ofRun)
    lost += (runs.length - rows.length) * ofRun
    for (const { count } of differing) {
      repeated += Math.max(0, count - ofRun)
      lost += Math.max(0, ofRun - count)
    }
    if (differing.length > 0) wrong.push(`${what}: ${differing.map(({ input, count }) => `${count} of ${input}`).join(', ')}`)
  }
  const order = blocks.map(([id]) => id).join()
  for (const { id, status, error, steps } of runs) {
    if (status !== 'ok') wrong.push(`Run ${id} is ${status}: ${error}`)
    const done = steps.filter((step: Answer['data']) => step.status === 'ok').map((step: Answer['data']) => step.node_id)
    if (done.join() !== order) wrong.push(`Run ${id} has the steps ${done.join(', ')}`)
  }
  const calls = [...Map.groupBy(keys, (key) => key).values()].map(({ length }) => length)
  if (calls.length !== 4 * runs.length) wrong.push(`${calls.length} calls came under keys of their own, and not ${4 * runs.length}`)
  if (calls.some((count) => count > 2)) wrong.push('A call was made more than twice')
  const retried = runs.filter(({ retry_of }) => retry_of !== null).length
  return {
    faults: kills,
    acknowledged: runs.length * blocks.length,
    lost,
    repeated,
    hung: 0,
    failed: 0,
    givenUp: retried,
    slowest: { ms: slowestOf(runs), what: 'a run' },
    note: `${runs.length} runs, ${calls.filter((count) => count > 1).length} calls made twice under one key`,
    wrong,
  }
}

const slowestOf = (runs: readonly Answer['data'][]): number =>
  Math.max(...runs.map(({ created_at, finished_at }) => (finished_at ? Date.parse(finished_at) : Date.now()) - Date.parse(created_at)))
