import test from 'ava'
import { startApi } from '#api/server.ts'
import { createLogger } from '#shared/platform/kernel/log.ts'
import { createDeals, missing } from '#test/core/types/fields-support.ts'
import { Client } from '#test/support/client.ts'
import { createMember, type Org } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const start = shareWorld(test)

const allow = (actions: readonly string[], resources: readonly string[]) => ({ effect: 'allow', actions, resources })

const builtinFields = async ({ owner, path }: Org) => (await owner.get(`${path}/fields?entity_type=invoices`)).data

test('fields: built-in fields are listed with those added to a built-in type, and cannot be changed or deleted', async (t) => {
  const w = await start()
  const { org } = w
  const invoiceKeys = ['number', 'customer_name', 'customer_email', 'issue_date', 'due_date', 'status', 'total', 'notes']
  const added = await org.owner.post(`${org.path}/fields`, { entity_type: 'invoices', key: 'region', label: 'Region', type: 'string' })
  t.is(added.status, 201)
  const fields = await builtinFields(org)
  t.deepEqual(
    fields.map(({ key }: { key: string }) => key),
    [...invoiceKeys, 'region'],
  )
  t.like(fields[0], { autogen: 'INV-{seq:5}', unique: true, system: true, entity_type: 'invoices' })
  t.deepEqual(fields[5].rules, { options: ['draft', 'open', 'paid', 'void'], default: 'draft' })
  const { id } = (await org.owner.get(`${org.path}/fields?entity_type=payments`)).data[1]
  t.is((await org.owner.delete(`${org.path}/fields/${id}`)).status, 404)
  t.is((await org.owner.put(`${org.path}/fields/${id}/description`, { description: 'x' })).status, 404)
  t.is((await org.owner.put(`${org.path}/fields/${id}/ref-type`, { ref_type: 'accounts' })).status, 404)
  t.is((await org.owner.delete(`${org.path}/fields/${added.data.id}`)).status, 204)
  t.deepEqual(await builtinFields(org), fields.slice(0, -1))
})

test('fields: a key is unique within its type, and free again once its field is deleted', async (t) => {
  const w = await start()
  const { add, org, records } = await createDeals(w)
  await org.owner.post(`${org.path}/types`, { key: 'others', label: 'Others' })
  const first = await add({ key: 'name', rules: { default: 'old' } })
  const again = await add({ key: 'name', type: 'number' })
  t.is(again.status, 409)
  t.is(again.body.error.code, 'KEY_TAKEN')
  t.is((await add({ key: 'name', entity_type: 'others' })).status, 201)
  t.is((await add({ key: 'number', entity_type: 'invoices' })).status, 409)
  const made = await org.owner.post(records)
  t.is(made.data.values.name, 'old')
  t.is((await org.owner.delete(`${org.path}/fields/${first.data.id}`)).status, 204)
  t.is((await org.owner.delete(`${org.path}/fields/${first.data.id}`)).status, 404)
  t.deepEqual((await org.owner.get(`${records}/${made.data.id}`)).data.values, {})
  t.is((await add({ key: 'name', type: 'number' })).status, 201)
  t.deepEqual((await org.owner.get(`${records}/${made.data.id}`)).data.values, { name: null })
  t.is((await org.owner.post(records, { values: { name: 5 } })).data.values.name, 5)
})

test('fields: a description is set, and cleared by empty text or null', async (t) => {
  const w = await start()
  const { add, list, org } = await createDeals(w)
  const { data } = await add({ key: 'name', description: 'old' })
  const at = `${org.path}/fields/${data.id}/description`
  const set = await org.owner.put(at, { description: '😀'.repeat(255) })
  t.is(set.status, 200)
  t.deepEqual(set.data, { ...data, description: '😀'.repeat(255) })
  t.deepEqual(await list(), [set.data])
  for (const body of [{ description: 'd'.repeat(256) }, {}, { description: 5 }]) t.is((await org.owner.put(at, body)).status, 400)
  for (const description of ['', null]) {
    await org.owner.put(at, { description: 'something' })
    t.deepEqual((await org.owner.put(at, { description })).data, { ...data, description: '' })
  }
})

test('fields: a reference can point to another type and keeps its ids', async (t) => {
  const w = await start()
  const { add, org, records } = await createDeals(w)
  const { data } = await add({ key: 'parent', type: 'ref', rules: { ref_type: 'deals', default: missing } })
  const made = await org.owner.post(records)
  const at = `${org.path}/fields/${data.id}/ref-type`
  const moved = await org.owner.put(at, { ref_type: 'invoices' })
  t.is(moved.status, 200)
  t.deepEqual(moved.data, { ...data, rules: { ref_type: 'invoices', default: missing } })
  t.is((await org.owner.get(`${records}/${made.data.id}`)).data.values.parent, missing)
  for (const body of [{}, { ref_type: 'nothing' }, { ref_type: '' }, { ref_type: null }]) t.is((await org.owner.put(at, body)).status, 400)
  const text = await add({ key: 'name' })
  const refusal = await org.owner.put(`${org.path}/fields/${text.data.id}/ref-type`, { ref_type: 'invoices' })
  t.is(refusal.status, 400)
  t.is(refusal.body.error.message, 'ref_type is for ref and refs fields; name is a string field')
})

test('fields: an id that names no field of the workspace is not found', async (t) => {
  const w = await start()
  const { add, org } = await createDeals(w)
  const { data } = await add({ key: 'name' })
  const { owner, path } = w.org
  for (const id of [data.id, missing, 'nothing']) {
    t.is((await owner.delete(`${path}/fields/${id}`)).status, 404, id)
    t.is((await owner.put(`${path}/fields/${id}/description`, { description: '' })).status, 404, id)
    t.is((await owner.put(`${path}/fields/${id}/ref-type`, { ref_type: 'invoices' })).status, 404, id)
  }
  t.is((await org.owner.delete(`${org.path}/fields/${data.id.toUpperCase()}`)).status, 204)
})

test('fields: a list of fields names an existing type', async (t) => {
  const w = await start()
  const { owner, path } = w.org
  for (const query of ['', '?entity_type=', '?entity_type=invoices&entity_type=accounts']) {
    t.is((await owner.get(`${path}/fields${query}`)).status, 400, query)
  }
  t.is((await owner.get(`${path}/fields?entity_type=nothing`)).status, 404)
})

test('fields: permissions apply to the type of the field', async (t) => {
  const w = await start()
  const { add, org } = await createDeals(w)
  const { data } = await add({ key: 'name' })
  const other = (await builtinFields(org))[1]
  const at = `${org.path}/fields`
  const nobody = await createMember(w, org)
  const member = await createMember(w, org, [allow(['fields:read', 'fields:create', 'fields:delete'], ['deals'])])
  const field = (entity_type: string, key: string) => ({ entity_type, key, label: 'A', type: 'string' })
  const calls = (type: string, id: string, key: string) =>
    [
      ['GET', `${at}?entity_type=${type}`],
      ['POST', at, field(type, key)],
      ['PUT', `${at}/${id}/description`, { description: 'x' }],
      ['DELETE', `${at}/${id}`],
    ] as const
  for (const [method, path, body] of calls('deals', data.id, 'ab')) {
    t.is((await w.visitor.send(method, path, body)).status, 401, method)
    t.is((await nobody.client.send(method, path, body)).status, 403, method)
  }
  for (const [method, path, body] of calls('invoices', other.id, 'ab'))
    t.is((await member.client.send(method, path, body)).status, 403, method)
  for (const [method, path, body] of calls('deals', data.id, 'ab'))
    t.true((await member.client.send(method, path, body)).status < 300, method)
})

test('fields: a field that one process adds or deletes is seen by the next request of another', async (t) => {
  const w = await start()
  const { add, org, records } = await createDeals(w)
  const second = await startApi(w.config, createLogger('second', 'error'))
  t.teardown(() => second.stop(1_000))
  const there = new Client(`http://127.0.0.1:${second.port}`, org.owner.token)
  await there.get(records)
  for (let round = 0; round < 10; round++) {
    const { data } = await add({ key: 'name', rules: { default: `round ${round}` } })
    t.is((await there.post(records)).data.values.name, `round ${round}`)
    t.is((await there.delete(`${org.path}/fields/${data.id}`)).status, 204)
    t.deepEqual((await org.owner.post(records)).data.values, {})
  }
})
