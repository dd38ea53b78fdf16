import type { ExecutionContext } from 'ava'
import { createLine, type Line } from '#test/features/queues/support.ts'
import { type Caller, createMember } from '#test/support/factories.ts'
import type { World } from '#test/support/world.ts'

/** Three stages; `work` holds at most two items. */
export const stages = [
  { key: 'in', label: 'In', kind: 'start' },
  { key: 'work', label: 'Work', wip_limit: 2, sla_seconds: 0 },
  { key: 'out', label: 'Out', kind: 'terminal' },
]

/** Allows reading the records of type jobs in the north. */
export const northRule = {
  effect: 'allow',
  actions: ['records:read'],
  resources: ['jobs'],
  condition: { 'resource.region': { eq: 'north' } },
}
/** Allows what a station does with a queue, and deleting items. */
export const queueRule = { effect: 'allow', actions: ['queues:read', 'queues:transition', 'queues:enqueue', 'queues:delete'] }
const invokeRule = { effect: 'allow', actions: ['functions:invoke'] }

/** A queue whose items are hidden from callers that may not read their records, and a member to whom this happens. */
export interface FollowingQueue {
  readonly w: World
  readonly line: Line
  /** May read the records in the north, and no others. */
  readonly reader: Caller
  /** Creates a record of type jobs in a region and returns its id. */
  readonly createJob: (region: string) => Promise<string>
}

/** Creates the record type jobs, a queue whose items follow its records, and the reader. */
export async function createFollowingQueue(t: ExecutionContext, w: World, more: { settings?: object } = {}): Promise<FollowingQueue> {
  const { owner, path } = w.org
  t.is((await owner.post(`${path}/types`, { key: 'jobs', label: 'Jobs' })).status, 201)
  const field = await owner.post(`${path}/fields`, { entity_type: 'jobs', key: 'region', label: 'Region', type: 'string' })
  t.is(field.status, 201, field.text)
  const settings = { items_follow_records: true, ...more.settings }
  const line = await createLine(t, w.org, { object_type: 'jobs', stages, settings })
  const reader = await createMember(w, w.org, [queueRule, northRule, invokeRule])
  const createJob = async (region: string) => {
    const made = await owner.post(`${path}/records/jobs`, { values: { region } })
    t.is(made.status, 201, made.text)
    return made.data.id as string
  }
  return { w, line, reader, createJob }
}

/** Adds the items a (north), b (south) and c (no record) in one batch; returns their ids. */
export async function addThreeItems({ line, createJob }: Pick<FollowingQueue, 'line' | 'createJob'>): Promise<string[]> {
  return line.add([{ key: 'a', record_id: await createJob('north') }, { key: 'b', record_id: await createJob('south') }, 'c'], {
    batch: 'truck',
  })
}
