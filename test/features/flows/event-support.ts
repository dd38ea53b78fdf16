import type { ExecutionContext } from 'ava'
import { chain, createFlow, recordsOf } from '#test/features/flows/support.ts'
import type { Client } from '#test/support/client.ts'
import { createOrg, type Org } from '#test/support/factories.ts'
import type { Answer } from '#test/support/send-request.ts'
import type { World } from '#test/support/world.ts'

export const flowRights = { effect: 'allow', actions: ['flows:read', 'flows:create', 'flows:update', 'flows:run'] }
export const makesNotes = { effect: 'allow', actions: ['records:create'], resources: ['notes'] }
export const writes = { ...makesNotes, actions: ['records:read', 'records:create'] }
export const reads = (more: object = {}) => ({ effect: 'allow', actions: ['records:read'], resources: ['staff'], ...more })

/** A trigger for events of some types. */
export const on = (types: readonly string[], settings: object = {}) => ['t', 'trigger.event', { types, ...settings }] as const
/** A block that writes a text into a record of `notes`. */
export const note = (text: string, id = 'n') => [id, 'action.create_record', { object_type: 'notes', values: { text } }] as const
/** A condition that holds for events of records of `staff`. */
export const ofStaff = [
  'c',
  'logic.condition',
  { clauses: [{ left: '{{trigger.event.subject.object_type}}', op: 'eq', right: 'staff' }] },
] as const

/** An organisation with the types `staff` and `notes`. */
export async function openStaff(t: ExecutionContext, w: World) {
  const org = await createOrg(w)
  const { owner, path } = org
  for (const [type, ...keys] of [
    ['staff', 'name', 'team', 'salary'],
    ['notes', 'text'],
  ] as const) {
    await owner.post(`${path}/types`, { key: type, label: type })
    for (const key of keys) {
      const kind = key === 'salary' ? 'number' : 'string'
      t.is((await owner.post(`${path}/fields`, { entity_type: type, key, label: key, type: kind })).status, 201)
    }
  }
  const create = async (values: object): Promise<string> => (await owner.post(`${path}/records/staff`, { values })).data.id
  const change = async (id: string, values: object, client: Client = owner) => {
    const { status, text } = await client.put(`${path}/records/staff/${id}/values`, { values })
    t.is(status, 204, text)
  }
  const remove = (id: string) => owner.delete(`${path}/records/staff/${id}`)
  const listen = (trigger: ReturnType<typeof on>, text: string, client: Client = owner) =>
    createFlow(t, org, { enabled: true, ...chain(trigger, note(text)) }, client)
  return { w, org, owner, path, create, change, remove, listen }
}

/** The texts of the records of `notes`, in order. */
export const noted = async (org: Org): Promise<string[]> =>
  (await recordsOf(org, 'notes')).map(({ text }: Answer['data']) => text).toSorted()
