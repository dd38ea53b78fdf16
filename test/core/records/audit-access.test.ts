import test from 'ava'
import { createMember } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const newWorkspace = shareWorld(test)

interface Entry {
  readonly record_id: string
  readonly action: string
  readonly before: Record<string, unknown> | null
  readonly after: Record<string, unknown> | null
}

const invoices = (w: World) => `${w.org.path}/records/invoices`
const read = (more: object) => ({ effect: 'allow', actions: ['records:read'], ...more })
const auditor = { effect: 'allow', actions: ['audit:read'] }

/** The audit as a member with these rules sees it. */
async function seen(w: World, rules: object[], query = ''): Promise<{ entries: Entry[]; total: number }> {
  const { client } = await createMember(w, w.org, [auditor, ...rules])
  const { data, text, status } = await client.get(`${w.org.path}/audit${query}`)
  if (status !== 200) throw new Error(text)
  return data
}

const keys = ({ entries }: { entries: Entry[] }) => [
  ...new Set(entries.flatMap(({ before, after }) => [...Object.keys(before ?? {}), ...Object.keys(after ?? {})])),
]

async function invoice(w: World, values: object): Promise<string> {
  const { data, text, status } = await w.org.owner.post(invoices(w), { values })
  if (status !== 201) throw new Error(text)
  return data.id
}

test('audit access: entries of records that the caller may not read are omitted and not counted', async (t) => {
  const w = await newWorkspace()
  const open = await invoice(w, { status: 'open', notes: 'x' })
  const paid = await invoice(w, { status: 'paid', notes: 'x' })
  await w.org.owner.put(`${invoices(w)}/${open}/values`, { values: { notes: 'y' } })
  await w.org.owner.put(`${invoices(w)}/${paid}/values`, { values: { notes: 'y' } })
  await w.org.owner.post(`${w.org.path}/records/locations`, { values: { name: 'x' } })
  const byStatus = await seen(w, [read({ resources: ['invoices'], condition: { 'resource.status': { eq: 'open' } } })])
  t.is(byStatus.total, 2)
  t.deepEqual([...new Set(byStatus.entries.map(({ record_id }) => record_id))], [open])
  t.is((await seen(w, [read({ resources: ['locations'] })])).total, 1)
  t.is((await seen(w, [read({}), { effect: 'deny', actions: ['records:read'], resources: ['invoices'] }])).total, 1)
  t.is((await seen(w, [read({ resources: ['invoices'] })], '?object_type=locations')).total, 0)
  t.is((await seen(w, [])).total, 0)
  t.is((await seen(w, [read({})])).total, 5)
  t.is((await seen(w, [read({ condition: { 'resource.owner': { eq: 'principal.id' } } })])).total, 0)
  // The present record decides: its earlier values cannot be tested.
  await w.org.owner.put(`${invoices(w)}/${open}/values`, { values: { status: 'paid' } })
  t.is((await seen(w, [read({ condition: { 'resource.status': { eq: 'open' } } })])).total, 0)
})

test('audit access: a permission for the audit of one type shows only that type', async (t) => {
  const w = await newWorkspace()
  await invoice(w, {})
  await w.org.owner.post(`${w.org.path}/records/locations`, { values: { name: 'x' } })
  const { client } = await createMember(w, w.org, [{ effect: 'allow', actions: ['audit:read'], resources: ['locations'] }, read({})])
  const { data } = await client.get(`${w.org.path}/audit`)
  t.is(data.total, 1)
  t.is(data.entries[0].object_type, 'locations')
  t.is((await client.get(`${w.org.path}/audit?object_type=invoices`)).data.total, 0)
})

test('audit access: hidden fields are omitted from before and after, also of deleted records', async (t) => {
  const w = await newWorkspace()
  const id = await invoice(w, { customer_name: 'Ada', notes: 'secret' })
  await w.org.owner.put(`${invoices(w)}/${id}/values`, { values: { customer_name: 'Bob', notes: 'secret too' } })
  const masks: [object, string[]][] = [
    [read({ fields: { deny: ['notes'] } }), ['status', 'number', 'customer_name']],
    [read({ fields: { allow: ['notes'] } }), ['notes']],
  ]
  for (const [rule, visible] of masks) t.deepEqual(keys(await seen(w, [rule])).sort(), visible.toSorted())
  await w.org.owner.delete(`${invoices(w)}/${id}`)
  for (const [rule, visible] of masks) {
    const page = await seen(w, [rule])
    t.is(page.total, 3)
    t.deepEqual(keys(page).sort(), visible.toSorted())
  }
})

test('audit access: a field that only some records hide is shown where its record shows it, and never of a deleted one', async (t) => {
  const w = await newWorkspace()
  const rule = [read({}), read({ condition: { 'resource.status': { eq: 'paid' } }, fields: { deny: ['notes'] } })]
  const open = await invoice(w, { status: 'open', notes: 'x' })
  const paid = await invoice(w, { status: 'paid', notes: 'x' })
  const of = async (id: string) => keys(await seen(w, rule, `?record_id=${id}`)).includes('notes')
  t.true(await of(open))
  t.false(await of(paid))
  await w.org.owner.delete(`${invoices(w)}/${open}`)
  t.false(await of(open))
})

test('audit access: entries of deleted records are shown to callers that may read every record of the type', async (t) => {
  const w = await newWorkspace()
  const id = await invoice(w, { status: 'open' })
  await w.org.owner.delete(`${invoices(w)}/${id}`)
  t.is((await seen(w, [read({ condition: { 'resource.status': { eq: 'open' } } })])).total, 0)
  t.is((await seen(w, [read({ resources: ['invoices'] })])).total, 2)
  t.is((await w.org.owner.get(`${w.org.path}/audit`)).data.total, 2)
})

test('audit access: entries of deleted types and fields are shown to callers without hidden values', async (t) => {
  const w = await newWorkspace()
  const { owner } = w.org
  await owner.post(`${w.org.path}/types`, { key: 'deals', label: 'Deals' })
  const field = await owner.post(`${w.org.path}/fields`, { entity_type: 'deals', key: 'secret', label: 'Secret', type: 'string' })
  t.is(field.status, 201, field.text)
  await owner.post(`${w.org.path}/records/deals`, { values: { secret: 'x' } })
  t.is((await owner.delete(`${w.org.path}/fields/${field.data.id}`)).status, 204)
  const admin = { effect: 'allow', actions: ['*'] }
  t.deepEqual(keys(await seen(w, [read({})])), ['secret'])
  t.deepEqual(keys(await seen(w, [read({ fields: { deny: ['another'] } })])), [])
  t.deepEqual(keys(await seen(w, [read({ resources: ['deals'] })])), ['secret'])
  t.is((await owner.delete(`${w.org.path}/types/deals`)).status, 204)
  t.is((await seen(w, [read({})])).total, 1)
  t.deepEqual(keys(await seen(w, [admin])), ['secret'])
  t.is((await seen(w, [admin, { effect: 'deny', actions: ['records:read'], resources: ['deals'] }])).total, 0)
  t.is((await seen(w, [read({ resources: ['deals'] })])).total, 0)
  t.is((await seen(w, [read({ condition: { 'resource.secret': { ne: 'x' } } })])).total, 0)
  t.is((await seen(w, [read({ fields: { deny: ['secret'] } })])).total, 0)
  t.is((await owner.get(`${w.org.path}/audit`)).data.total, 1)
  // A type with the same key is another type: conditions are tested on existing records only.
  await owner.post(`${w.org.path}/types`, { key: 'deals', label: 'Deals' })
  t.is((await seen(w, [read({ condition: { 'resource.secret': { ne: 'x' } } })])).total, 0)
})
