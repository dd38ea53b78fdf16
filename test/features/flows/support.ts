import type { ExecutionContext } from 'ava'
import type { Answer, Client } from '#test/support/client.ts'
import type { Org } from '#test/support/factories.ts'
import type { World } from '#test/support/world.ts'

/** A block as tests write it: its id, its type, its settings. */
type BlockOf = readonly [id: string, type: string, config?: object]

/** Nodes and edges of blocks and of connections such as `a > b` or `c.true > d`; `a` leaves by its first output. */
export function graph(blocks: readonly BlockOf[], ...connections: string[]): { nodes: object[]; edges: object[] } {
  const nodes = blocks.map(([id, type, config = {}], index) => ({ id, type, config, position: { x: 100 * index, y: 0 } }))
  const edges = connections.map((text, index) => {
    const [from = '', target = ''] = text.split('>').map((part) => part.trim())
    const [source = '', source_handle] = from.split('.')
    return { id: `e${index}`, source, ...(source_handle ? { source_handle } : {}), target }
  })
  return { nodes, edges }
}

/** Blocks one behind the other, the first of which is a trigger. */
export function chain(...blocks: readonly BlockOf[]): { nodes: object[]; edges: object[] } {
  const ids = blocks.map(([id]) => id)
  return graph(blocks, ...ids.slice(1).map((id, index) => `${ids[index]} > ${id}`))
}

export const byHand = ['t', 'trigger.manual'] as const

/** Makes a flow as the owner, or as another caller, and gives it. */
export async function createFlow(t: ExecutionContext, org: Org, body: object, client: Client = org.owner): Promise<Answer['data']> {
  const made = await client.post(`${org.path}/flows`, { name: 'Test', ...body })
  t.is(made.status, 201, made.text)
  return made.data
}

/** Starts a flow and gives the id of its run. */
export async function start(t: ExecutionContext, org: Org, flowId: string, input?: unknown): Promise<string> {
  const started = await org.owner.post(`${org.path}/flows/${flowId}/run`, { input })
  t.is(started.status, 202, started.text)
  t.true(started.data.queued)
  return started.data.run_id
}

/** A run as a caller sees it, the owner unless it is another. */
export const runOf = async (org: Org, flowId: string, runId: string, client: Client = org.owner): Promise<Answer['data']> =>
  (await client.get(`${org.path}/flows/${flowId}/runs/${runId}`)).data

/** Waits until a run has ended, and gives it. It is asked after among all runs, which are shown without their steps: there may be thousands. */
export async function ended(org: Org, flowId: string, runId: string): Promise<Answer['data']> {
  for (;;) {
    const { runs } = (await org.owner.get(`${org.path}/flows/runs?flow=${flowId}&limit=200`)).data
    const run = runs.find(({ id }: Answer['data']) => id === runId)
    if (run?.finished_at) return runOf(org, flowId, runId)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

export async function waitFor(org: Org, flowId: string, runId: string, isRight: (run: Answer['data']) => boolean): Promise<Answer['data']> {
  for (;;) {
    const run = await runOf(org, flowId, runId)
    if (isRight(run)) return run
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** Makes a flow, runs it once by hand, and gives the run. */
export async function play(t: ExecutionContext, org: Org, body: object, input?: unknown): Promise<Answer['data']> {
  const flow = await createFlow(t, org, body)
  return ended(org, flow.id, await start(t, org, flow.id, input))
}

/** The outputs of a run's steps by their blocks; of a block in a loop the last one. */
export const outputsOf = (run: Answer['data']): Record<string, Answer['data']> =>
  Object.fromEntries(run.steps.map(({ node_id, output }: Answer['data']) => [node_id, output]))

/** The values of all records of a type, oldest first. */
export async function recordsOf(org: Org, type: string): Promise<Answer['data'][]> {
  const { data } = await org.owner.get(`${org.path}/records/${type}?sort=created_at&dir=asc&limit=200&filter=[]`)
  return data.records.map(({ values }: Answer['data']) => values)
}

/** The runs of a flow, oldest first. */
export const runsOf = async (org: Org, flowId: string): Promise<Answer['data'][]> =>
  (await org.owner.get(`${org.path}/flows/${flowId}/runs`)).data.toReversed()

/** Waits until a workspace's flow has so many runs that have ended. */
export async function endedRuns(w: World, org: Org, flowId: string, count: number): Promise<Answer['data'][]> {
  for (;;) {
    const { rows } = await w.db.query('select count(*)::integer as count from flow_runs where flow_id = $1 and finished_at is not null', [
      flowId,
    ])
    if (rows[0].count >= count) return runsOf(org, flowId)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** Holds the locations of a workspace until it is called back; `wanted` waits until somebody waits for one. */
export async function holdLocations(w: World, org: Org): Promise<{ wanted: () => Promise<void>; release: () => Promise<void> }> {
  const schema = `ws_${org.id.replaceAll('-', '')}`
  const holder = await w.db.connect()
  await holder.query('begin')
  await holder.query(`select from ${schema}.locations for update`)
  return {
    wanted: async () => {
      const waiting = `select from pg_stat_activity where wait_event_type = 'Lock' and strpos(query, $1) > 0`
      while ((await w.db.query(waiting, [schema])).rowCount === 0) await new Promise((resolve) => setTimeout(resolve, 10))
    },
    release: async () => {
      await holder.query('rollback')
      holder.release()
    },
  }
}
