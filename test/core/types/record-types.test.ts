import test from 'ava'
import { readColumns } from '#test/core/types/fields-support.ts'
import { listTables } from '#test/core/types/rows.ts'
import { createMember, createOrg } from '#test/support/factories.ts'
import { countRows } from '#test/support/rows.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const start = shareWorld(test)

const allow = (actions: readonly string[], resources?: readonly string[]) => ({
  effect: 'allow',
  actions,
  ...(resources ? { resources } : {}),
})

test('record types: a workspace has the built-in types from the start', async (t) => {
  const w = await start()
  const { org } = w
  const { status, data } = await org.owner.get(`${org.path}/types`)
  t.is(status, 200)
  t.deepEqual(
    data.map(({ key }: { key: string }) => key),
    ['accounts', 'invoices', 'payments', 'locations'],
  )
  for (const type of data) {
    t.deepEqual(Object.keys(type).sort(), ['app', 'created_at', 'description', 'icon', 'key', 'label', 'record_count', 'system', 'ui'])
    t.like(type, { system: true, record_count: 0, ui: {}, app: '', description: '' })
  }
})

test('record types: a change leaves omitted keys alone, null clears, and the key stays', async (t) => {
  const w = await start()
  const { org } = w
  const at = `${org.path}/types/deals`
  const made = await org.owner.post(`${org.path}/types`, { key: 'deals', label: 'Deals', icon: 'flag', app: 'sales', ui: { child: true } })
  const renamed = await org.owner.patch(at, { ...made.data, key: 'other' })
  t.is(renamed.body.error.message, 'key cannot be changed here')
  const described = await org.owner.patch(at, {
    ...made.data,
    label: 'Big deals',
    description: 'What we sell',
    ui: '{"a":1}',
  })
  t.is(described.status, 200)
  t.deepEqual(described.data, { ...made.data, label: 'Big deals', description: 'What we sell', ui: { a: 1 } })
  t.deepEqual((await org.owner.patch(at, {})).data, described.data)
  const cleared = await org.owner.patch(at, { icon: null, app: null, ui: null, description: null })
  t.deepEqual(cleared.data, { ...described.data, icon: '', app: '', ui: {}, description: '' })
  t.deepEqual((await org.owner.get(`${org.path}/types`)).data[4], cleared.data)
  for (const change of [
    { label: null },
    { label: '' },
    { ui: '[]' },
    { icon: 'i'.repeat(33) },
    { app: 'A' },
    { description: 'd'.repeat(2001) },
  ]) {
    t.is((await org.owner.patch(at, change)).status, 400, JSON.stringify(change))
  }
  t.deepEqual((await org.owner.get(`${org.path}/types`)).data[4], cleared.data)
  t.is((await org.owner.patch(`${org.path}/types/invoices`, { label: 'Bills' })).data.label, 'Bills')
  t.is((await org.owner.patch(`${org.path}/types/nothing`, { label: 'X' })).status, 404)
})

test('record types: record_count is exact, and a deleted type disappears with its records at once', async (t) => {
  const w = await start()
  const { org } = w
  const types = `${org.path}/types`
  await org.owner.post(types, { key: 'deals', label: 'Deals' })
  const made = await Promise.all(Array.from({ length: 12 }, () => org.owner.post(`${org.path}/records/deals`)))
  t.is((await org.owner.get(types)).data[4].record_count, 12)
  await org.owner.delete(`${org.path}/records/deals/${made[0]?.data.id}`)
  t.is((await org.owner.get(types)).data[4].record_count, 11)
  t.is((await org.owner.patch(`${types}/deals`, {})).data.record_count, 11)
  t.is((await org.owner.delete(`${types}/deals`)).status, 204)
  t.is((await org.owner.get(types)).data.length, 4)
  for (const path of ['records/deals', `records/deals/${made[1]?.data.id}`, 'fields?entity_type=deals']) {
    t.is((await org.owner.get(`${org.path}/${path}`)).status, 404, path)
  }
  t.is((await org.owner.delete(`${types}/deals`)).status, 404)
  await w.drain()
  t.deepEqual(await listTables(w.db, org.id), ['accounts', 'invoices', 'locations', 'payments'])
  t.is(await countRows(w.db, 'audit_entries', org.id), 13)
})

test('record types: a key is free again once its type is deleted, and the new type holds nothing of the old one', async (t) => {
  const w = await start()
  const { org } = w
  const types = `${org.path}/types`
  const fields = `${org.path}/fields`
  const records = `${org.path}/records/deals`
  const seen: string[] = []
  // Twenty of each, so that every connection has prepared its statements for the old table before the new one exists.
  for (const [type, value] of [
    ['number', 1],
    ['string', 'one'],
    ['bool', true],
  ] as const) {
    t.is((await org.owner.post(types, { key: 'deals', label: 'Deals' })).status, 201)
    t.is((await org.owner.post(fields, { entity_type: 'deals', key: 'size', label: 'Size', type })).status, 201)
    const columns = (await readColumns(w, org, 'deals')).filter((name) => name.startsWith('size_'))
    t.deepEqual(
      columns.filter((name) => seen.includes(name)),
      [],
    )
    seen.push(...columns)
    const made = await Promise.all(Array.from({ length: 20 }, () => org.owner.post(records, { values: { size: value } })))
    t.deepEqual([...new Set(made.map(({ status, text }) => (status === 201 ? '' : text)))], [''])
    const lists = await Promise.all(Array.from({ length: 20 }, () => org.owner.get(records)))
    for (const { data } of lists) {
      t.is(data.records.length, 20)
      t.is(data.records[0].values.size, value)
    }
    t.is((await org.owner.delete(`${types}/deals`)).status, 204)
  }
  t.is(seen.length, 3)
})

test('record types: a built-in type cannot be deleted', async (t) => {
  const w = await start()
  const { status, body } = await w.org.owner.delete(`${w.org.path}/types/accounts`)
  t.is(status, 403)
  t.is(body.error.code, 'FORBIDDEN')
  t.is((await w.org.owner.delete(`${w.org.path}/types/Nothing%20such`)).status, 404)
})

test('record types: each verb needs its own permission on the key of the type', async (t) => {
  const w = await start()
  const org = await createOrg(w)
  const types = `${org.path}/types`
  await org.owner.post(types, { key: 'deals', label: 'Deals' })
  const nobody = await createMember(w, org)
  const foreign = await createOrg(w)
  for (const [method, path, body] of [
    ['GET', types],
    ['POST', types, { key: 'mine', label: 'Mine' }],
    ['PATCH', `${types}/deals`, {}],
    ['DELETE', `${types}/deals`],
  ] as const) {
    t.is((await nobody.client.send(method, path, body)).status, 403, method)
    t.is((await w.visitor.send(method, path, body)).status, 401, method)
    t.is((await foreign.owner.send(method, path, body)).status, 404, method)
  }
  const one = await createMember(w, org, [allow(['types:read', 'types:create', 'types:update', 'types:delete'], ['deals', 'mine'])])
  t.deepEqual(
    (await one.client.get(types)).data.map(({ key }: { key: string }) => key),
    ['deals'],
  )
  t.is((await one.client.patch(`${types}/invoices`, { label: 'X' })).status, 403)
  t.is((await one.client.patch(`${types}/deals`, { label: 'X' })).status, 200)
  t.is((await one.client.post(types, { key: 'yours', label: 'Yours' })).status, 403)
  t.is((await one.client.post(types, { key: 'mine', label: 'Mine' })).status, 201)
  t.is((await one.client.delete(`${types}/payments`)).status, 403)
  t.is((await one.client.delete(`${types}/mine`)).status, 204)
  const reader = await createMember(w, org, [allow(['types:read']), { effect: 'deny', actions: ['types:read'], resources: ['payments'] }])
  t.deepEqual(
    (await reader.client.get(types)).data.map(({ key }: { key: string }) => key),
    ['accounts', 'invoices', 'locations', 'deals'],
  )
  const readsNothing = await createMember(w, org, [allow(['types:read']), { effect: 'deny', actions: ['types:read'] }])
  t.is((await readsNothing.client.get(types)).status, 403)
})
