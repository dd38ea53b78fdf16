import test, { type ExecutionContext } from 'ava'
import { lastSeq, readAll, type Seen } from '#test/core/events/reading.ts'
import type { Client } from '#test/support/client.ts'
import { createMember, createRole } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const shared = shareWorld(test)

const read = (more: object = {}) => ({ effect: 'allow', actions: ['records:read'], resources: ['visits'], ...more })
const inNorth = { 'resource.region': { eq: 'north' } }

/** Makes the type `visits` with a region, notes, a rank and a secret. */
async function makeVisits(w: World): Promise<string> {
  const { owner, path } = w.org
  await owner.post(`${path}/types`, { key: 'visits', label: 'Visits' })
  for (const [key, type] of [
    ['region', 'string'],
    ['notes', 'string'],
    ['rank', 'number'],
    ['secret', 'string'],
  ])
    await owner.post(`${path}/fields`, { entity_type: 'visits', key, label: key, type })
  return `${path}/records/visits`
}

const brief = ({ type, data }: Seen) => [type.slice('records.'.length), data.view, data.before, data.after, data.changed]

test('event masks: a record enters and leaves the sight of a reader, and nothing hidden is told', async (t) => {
  const w = await shared()
  const visits = await makeVisits(w)
  const { owner } = w.org
  const reader = await createMember(w, w.org, [read({ condition: inNorth, fields: { deny: ['secret'] } })])
  const after = await lastSeq(w)
  const { id } = (await owner.post(visits, { values: { region: 'south', notes: 'planted one', secret: 'planted' } })).data
  const set = (values: object) => owner.put(`${visits}/${id}/values`, { values })
  await set({ notes: 'planted two' })
  await set({ region: 'north', rank: 1 })
  await set({ notes: 'three', secret: 'planted again' })
  await set({ secret: 'planted still' })
  await set({ region: 'south', notes: 'planted four' })
  await set({ notes: 'planted five' })
  await set({ region: 'north' })
  await owner.delete(`${visits}/${id}`)
  const events = await readAll(w, reader.client, after)
  t.deepEqual(events.map(brief), [
    ['updated', 'entered', null, { region: 'north', rank: 1 }, ['region', 'rank']],
    ['updated', 'changed', { notes: 'planted two' }, { notes: 'three' }, ['notes']],
    ['updated', 'left', null, null, []],
    ['updated', 'entered', null, { region: 'north' }, ['region']],
    ['deleted', 'left', { region: 'north', notes: 'planted five', rank: 1 }, null, []],
  ])
  t.is((await readAll(w, owner, after)).length, 9)
  for (const policy of [[], [read({ resources: ['locations'] })], [read(), { ...read(), effect: 'deny' }]])
    t.deepEqual(await readAll(w, (await createMember(w, w.org, policy)).client, after), [])
})

test('event masks: on a field that was not kept no allow rule holds, and every deny rule does', async (t) => {
  const w = await shared()
  const visits = await makeVisits(w)
  const { owner } = w.org
  const after = await lastSeq(w)
  const { id } = (await owner.post(visits, { values: { region: 'north', notes: 'a' } })).data
  await owner.put(`${visits}/${id}/values`, { values: { notes: 'b' } })
  // From now on the event of an update keeps the region.
  const allowed = await createMember(w, w.org, [read({ condition: inNorth })])
  const other = await createMember(w, w.org, [read({ condition: { 'resource.region': { ne: 'south' } } })])
  const denied = await createMember(w, w.org, [read(), { ...read({ condition: { 'resource.region': { eq: 'south' } } }), effect: 'deny' }])
  await owner.put(`${visits}/${id}/values`, { values: { notes: 'c' } })
  for (const { client } of [allowed, other, denied]) {
    const events = await readAll(w, client, after)
    t.deepEqual(
      events.map(({ type, data }) => [type, data.after]),
      [
        ['records.created', { region: 'north', notes: 'a' }],
        ['records.updated', { notes: 'c' }],
      ],
    )
  }
})

test('event masks: what a rule denies is hidden where the field that it tests was not kept', async (t) => {
  const w = await shared()
  const visits = await makeVisits(w)
  const { owner } = w.org
  const after = await lastSeq(w)
  const { id } = (await owner.post(visits, { values: { region: 'north' } })).data
  await owner.put(`${visits}/${id}/values`, { values: { notes: 'a', secret: 'planted' } })
  const reader = await createMember(w, w.org, [read(), read({ condition: inNorth, fields: { deny: ['secret'] } })])
  t.false('secret' in (await reader.client.get(`${visits}/${id}`)).data.values)
  t.deepEqual(
    (await readAll(w, reader.client, after)).map(({ data }) => data.after),
    [{ region: 'north' }, { notes: 'a' }],
  )
})

test('event masks: a field that is gone is shown only to those from whom no field is hidden', async (t) => {
  const w = await shared()
  const visits = await makeVisits(w)
  const { owner, path } = w.org
  const after = await lastSeq(w)
  await owner.post(visits, { values: { region: 'north', notes: 'a', secret: 'planted' } })
  const { data: fields } = await owner.get(`${path}/fields?entity_type=visits`)
  const secret = fields.find((field: { key: string }) => field.key === 'secret')
  await owner.delete(`${path}/fields/${secret.id}`)
  await owner.post(`${path}/fields`, { entity_type: 'visits', key: 'secret', label: 'secret', type: 'string' })
  const [some, all] = [await createMember(w, w.org, [read({ fields: { deny: ['notes'] } })]), await createMember(w, w.org, [read()])]
  t.deepEqual((await readAll(w, some.client, after))[0]?.data.after, { region: 'north' })
  t.deepEqual((await readAll(w, all.client, after))[0]?.data.after, { region: 'north', notes: 'a', secret: 'planted' })
})

test('event masks: what a recompute changes is in the list, for readers of the computed field', async (t) => {
  const w = await shared()
  const visits = await makeVisits(w)
  const { owner, path } = w.org
  const { id } = (await owner.post(visits, { values: { region: 'north', rank: 2 } })).data
  const after = await lastSeq(w)
  const reader = await createMember(w, w.org, [read({ condition: inNorth })])
  const blind = await createMember(w, w.org, [read({ fields: { deny: ['rank'] } })])
  const { data: field } = await owner.post(`${path}/fields`, { entity_type: 'visits', key: 'double', label: 'double', type: 'number' })
  await owner.put(`${path}/fields/${field.id}/formula`, { formula: 'rank * 2' })
  await w.drain()
  const [event, ...others] = await readAll(w, reader.client, after)
  t.deepEqual(others, [])
  t.like(event, { type: 'records.updated', subject: { id }, data: { view: 'changed', after: { double: 4 } }, cause: { kind: 'recompute' } })
  t.deepEqual(await readAll(w, blind.client, after), [])
})

/** What a caller reads of a record by its address: its values; null where there is none for it. */
async function look(client: Client, address: string): Promise<Record<string, unknown> | null> {
  const { status, data } = await client.get(address)
  return status === 200 ? data.values : null
}

/** The view of a change by what its reader read before and after it; undefined where the event is not to be there. */
function expectedView(before: Record<string, unknown> | null, after: Record<string, unknown> | null, written: readonly string[]) {
  if (!before && !after) return undefined
  if (!after) return { view: 'left', after: null }
  const shown = Object.fromEntries(Object.entries(after).filter(([key]) => written.includes(key)))
  if (!before) return { view: 'entered', after: shown }
  return Object.keys(shown).length === 0 ? undefined : { view: 'changed', after: shown }
}

async function compareViews(t: ExecutionContext, w: World, client: Client, after: number, expected: readonly object[]): Promise<void> {
  const events = await readAll(w, client, after)
  t.deepEqual(
    events.map(({ data: { view, after: values } }) => ({ view, after: values })),
    expected,
  )
}

test('event masks: views agree with what the reader reads before and after each change', async (t) => {
  const w = await shared()
  const visits = await makeVisits(w)
  const { owner } = w.org
  await createRole(w, w.org, [read({ condition: { 'resource.rank': { gt: 1 } } })])
  const policies = [
    [read({ condition: inNorth })],
    [
      read({ condition: { 'resource.rank': { gte: 2 } }, fields: { deny: ['secret'] } }),
      read({ condition: inNorth, fields: { allow: ['notes'] } }),
    ],
    [read({ fields: { allow: ['region', 'rank'] } }), { ...read({ condition: { 'resource.notes': { contains: 'x' } } }), effect: 'deny' }],
    [read({ condition: { 'resource.region': { ne: 'north' }, 'resource.rank': { lt: 3 } } })],
  ]
  const readers = await Promise.all(policies.map((policy) => createMember(w, w.org, policy)))
  const after = await lastSeq(w)
  const ids = await Promise.all(['north', 'south', null].map(async (region) => (await owner.post(visits, { values: { region } })).data.id))
  const start = await lastSeq(w)
  t.is(start, after + 3)
  const expected: object[][] = policies.map(() => [])
  const [regions, notes] = [
    ['north', 'south', null],
    ['a', 'ax', null],
  ]
  for (let step = 0; step < 60; step += 1) {
    const address = `${visits}/${ids[step % 3]}`
    const present = (await owner.get(address)).data.values
    const values = Object.fromEntries(
      Object.entries({
        region: regions[(step * 7) % 3],
        notes: notes[(step * 5 + (step >> 2)) % 3],
        rank: [1, 2, 3, null][(step * 3) % 4],
        secret: `planted ${step}`,
      }).filter(([key, value], index) => ((step * 11) >> index) % 2 === 0 && present[key] !== value),
    )
    if (Object.keys(values).length === 0) continue
    const before = await Promise.all(readers.map(({ client }) => look(client, address)))
    const { status } = await owner.put(`${address}/values`, { values })
    t.is(status, 204)
    for (const [index, { client }] of readers.entries()) {
      const view = expectedView(before[index] ?? null, await look(client, address), Object.keys(values))
      if (view) expected[index]?.push(view)
    }
  }
  for (const [index, { client }] of readers.entries()) await compareViews(t, w, client, start, expected[index] ?? [])
  t.true(expected.every((views) => views.length > 5))
})
