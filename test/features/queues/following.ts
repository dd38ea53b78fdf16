import type { ExecutionContext } from 'ava'
import { createLine, type Line } from '#test/features/queues/support.ts'
import { type Caller, createMember } from '#test/support/factories.ts'
import type { World } from '#test/support/world.ts'

/** The stage of work takes two items. */
export const stages = [
  { key: 'in', label: 'In', kind: 'start' },
  { key: 'work', label: 'Work', wip_limit: 2, sla_seconds: 0 },
  { key: 'out', label: 'Out', kind: 'terminal' },
]

/** Reads the jobs in the north. */
export const north = { effect: 'allow', actions: ['records:read'], resources: ['jobs'], condition: { 'resource.region': { eq: 'north' } } }
export const ofQueues = { effect: 'allow', actions: ['queues:read', 'queues:transition', 'queues:enqueue', 'queues:delete'] }
const invoking = { effect: 'allow', actions: ['functions:invoke'] }

/** A world with a queue whose items follow their records. */
export interface Following {
  readonly w: World
  readonly line: Line
  readonly reader: Caller
  readonly job: (region: string) => Promise<string>
}

/** Makes a queue whose items follow records of type jobs, and a member who reads those in the north. */
export async function following(t: ExecutionContext, w: World, more: { settings?: object } = {}): Promise<Following> {
  const { owner, path } = w.org
  t.is((await owner.post(`${path}/types`, { key: 'jobs', label: 'Jobs' })).status, 201)
  const field = await owner.post(`${path}/fields`, { entity_type: 'jobs', key: 'region', label: 'Region', type: 'string' })
  t.is(field.status, 201, field.text)
  const settings = { items_follow_records: true, ...more.settings }
  const line = await createLine(t, w.org, { object_type: 'jobs', stages, settings })
  const reader = await createMember(w, w.org, [ofQueues, north, invoking])
  const job = async (region: string) => {
    const made = await owner.post(`${path}/records/jobs`, { values: { region } })
    t.is(made.status, 201, made.text)
    return made.data.id as string
  }
  return { w, line, reader, job }
}

/** Items a (north), b (south) and c (no record), all of one batch. */
export async function threeItems({ line, job }: Pick<Following, 'line' | 'job'>): Promise<string[]> {
  return line.add([{ key: 'a', record_id: await job('north') }, { key: 'b', record_id: await job('south') }, 'c'], { batch: 'truck' })
}
