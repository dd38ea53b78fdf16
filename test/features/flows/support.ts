import type { ExecutionContext } from 'ava'
import { schemaOf } from '#shared/core/types/tables/table-names.ts'
import { countEndedRuns } from '#test/features/flows/rows.ts'
import type { Client } from '#test/support/client.ts'
import { eventually, longestWaitMs } from '#test/support/eventually.ts'
import type { Org } from '#test/support/factories.ts'
import { type HeldLock, lockRows } from '#test/support/locks.ts'
import type { Answer } from '#test/support/send-request.ts'
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

/** Waits until a run has ended, and returns it. Polls the list of runs, which omits steps: a run may have thousands. */
export async function ended(org: Org, flowId: string, runId: string): Promise<Answer['data']> {
  await eventually(async () => {
    const { runs } = (await org.owner.get(`${org.path}/flows/runs?flow=${flowId}&limit=200`)).data
    return runs.find(({ id }: Answer['data']) => id === runId)?.finished_at
    // A run of thousands of steps may take two minutes on a busy machine.
  }, longestWaitMs)
  return runOf(org, flowId, runId)
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

/** Waits until so many runs of a flow have ended, and gives its newest runs. */
export async function endedRuns(w: World, org: Org, flowId: string, count: number): Promise<Answer['data'][]> {
  // Hundreds of runs may take two minutes on a busy machine.
  await eventually(async () => (await countEndedRuns(w.db, flowId)) >= count, longestWaitMs)
  return runsOf(org, flowId)
}

/** Locks all locations of a workspace, so that changes of them wait. */
export const lockLocations = (t: ExecutionContext, w: World, org: Org): Promise<HeldLock> =>
  lockRows(t, w.db, `${schemaOf(org.id)}.locations`)
