import test from 'ava'
import { schemaOf } from '#shared/core/types/tables/table-names.ts'
import { atOnce, openArena, rounds, tally } from '#test/races/arena.ts'
import { countIndexes, readColumns, replaceTypeSilently } from '#test/races/rows.ts'
import type { Client } from '#test/support/client.ts'
import { eventually } from '#test/support/eventually.ts'
import type { Org } from '#test/support/factories.ts'
import { readTable } from '#test/support/locks.ts'
import { countRows } from '#test/support/rows.ts'
import { countLockWaits } from '#test/support/waiting.ts'

const arena = openArena(test)
const dealsOf = ({ id }: Org) => `${schemaOf(id)}.deals`

test('types: of twenty equal types or fields at once one is created and nineteen are refused', async (t) => {
  const org = await arena.ring()
  for (let round = 0; round < rounds; round++) {
    const types = await atOnce(20, org.owners, (client) => client.post(`${org.path}/types`, { key: `type_${round}`, label: 'T' }))
    t.deepEqual(tally(types), { 201: 1, 409: 19 })
    const field = { entity_type: `type_${round}`, key: 'name', label: 'N', type: 'currency', unique: true }
    t.deepEqual(tally(await atOnce(20, org.owners, (client) => client.post(`${org.path}/fields`, field))), { 201: 1, 409: 19 })
  }
  await agrees(t, org)
})

test('types: a field that twenty callers delete at once is deleted once', async (t) => {
  const org = await arena.ring()
  await org.owner.post(`${org.path}/types`, { key: 'deals', label: 'Deals' })
  for (let round = 0; round < rounds; round++) {
    const { data } = await org.owner.post(`${org.path}/fields`, { entity_type: 'deals', key: 'name', label: 'N', type: 'string' })
    t.deepEqual(tally(await atOnce(20, org.owners, (client) => client.delete(`${org.path}/fields/${data.id}`))), { 204: 1, 404: 19 })
  }
  t.deepEqual(tally(await atOnce(20, org.owners, (client) => client.delete(`${org.path}/types/deals`))), { 204: 1, 404: 19 })
  await arena.world().drain()
  await agrees(t, org)
})

test('types: twenty fields of one type are all created at once, ten of them requested twice with one key', async (t) => {
  const org = await arena.ring()
  const answers = await atOnce(30, org.owners, (client, index) => {
    const key = index < 10 ? index : index % 20
    const field = { entity_type: 'invoices', key: `field_${key}`, label: 'F', type: 'currency' }
    return client.post(`${org.path}/fields`, field, key < 10 ? { 'idempotency-key': `${key}` } : {})
  })
  t.deepEqual(tally(answers), { 201: 30 })
  t.is(new Set(answers.map(({ data }) => data.id)).size, 20)
  await agrees(t, org)
})

test('types: a type that is deleted during writes is gone, and every caller gets a clear response', async (t) => {
  const org = await arena.ring()
  const types = `${org.path}/types`
  for (let round = 0; round < rounds; round++) {
    await org.owner.post(types, { key: 'deals', label: 'Deals' })
    const kept = await org.owner.post(`${org.path}/fields`, { entity_type: 'deals', key: 'name', label: 'N', type: 'string' })
    const record = await org.owner.post(`${org.path}/records/deals`, { values: { name: 'first' } })
    const field = (key: string) => ({ entity_type: 'deals', key, label: 'F', type: 'string' })
    const calls = [
      (client: Client) => client.post(`${org.path}/records/deals`, { values: { name: 'x' } }),
      (client: Client, index: number) => client.post(`${org.path}/fields`, field(`field_${index}`)),
      (client: Client) => client.put(`${org.path}/records/deals/${record.data.id}/values`, { values: { name: 'y' } }),
      (client: Client) => client.get(`${org.path}/records/deals?q=x`),
      (client: Client) => client.put(`${org.path}/fields/${kept.data.id}/description`, { description: 'd' }),
      (client: Client) => client.patch(`${types}/deals`, { label: 'D' }),
      (client: Client) => client.delete(`${org.path}/records/deals/${record.data.id}`),
      (client: Client) => client.post(`${org.path}/records/deals/import`, 'name\nz\n', { 'content-type': 'text/csv' }),
      (client: Client) => client.post(`${org.path}/records/deals/batch`, { operations: [{ op: 'create' }, { op: 'create' }] }),
    ]
    const [writes, deletion] = await Promise.all([
      atOnce(36, org.owners, async (client, index) => calls[index % calls.length]?.(client, index)),
      org.owners[1].delete(`${types}/deals`),
    ])
    t.is(deletion.status, 204)
    // A field of a deleted type is refused with 400, since its body names no type; all other requests are not found.
    for (const answer of writes) t.true([200, 201, 204, 400, 404].includes(answer?.status ?? 0), answer?.text)
    t.is((await org.owner.get(types)).data.length, 4)
  }
  await arena.world().drain()
  await agrees(t, org)
})

test('types: a type that is deleted and created again during writes stays one type', async (t) => {
  const org = await arena.ring()
  const types = `${org.path}/types`
  const make = async (type: string) => {
    await org.owner.post(types, { key: 'deals', label: 'Deals' })
    await org.owner.post(`${org.path}/fields`, { entity_type: 'deals', key: 'name', label: 'N', type })
  }
  await make('string')
  for (let round = 0; round < rounds; round++) {
    const [writes] = await Promise.all([
      atOnce(20, org.owners, (client) => client.post(`${org.path}/records/deals`, { values: { name: 7 } })),
      org.owner.delete(`${types}/deals`).then(() => make(round % 2 === 0 ? 'number' : 'string')),
    ])
    for (const { status, text } of writes) t.true([201, 400, 404].includes(status), text)
    const listed = (await org.owner.get(types)).data[4]
    t.is(listed.record_count, (await org.owner.get(`${org.path}/records/deals?page=1`)).data.total)
  }
  await arena.world().drain()
  await agrees(t, org)
})

test('types: a record of a type that was deleted and created again meanwhile is not found and not stored', async (t) => {
  const org = await arena.ring()
  await org.owner.post(`${org.path}/types`, { key: 'deals', label: 'Deals' })
  t.is((await org.owner.post(`${org.path}/records/deals`)).status, 201)
  // The situation of a request that has just read the type: the cached type no longer exists, and no invalidation was sent.
  const sleight = await arena.world().db.connect()
  t.teardown(() => sleight.release(true))
  await replaceTypeSilently(sleight, org.id, 'deals')
  const { status, body } = await org.owner.post(`${org.path}/records/deals`)
  t.is(status, 404)
  t.is(body.error.code, 'NOT_FOUND')
  t.is(await countRows(arena.world().db, dealsOf(org)), 1)
})

test('types: no write is lost or fails while fields are added and deleted', async (t) => {
  const org = await arena.ring()
  await org.owner.post(`${org.path}/types`, { key: 'deals', label: 'Deals' })
  const change = async () => {
    for (let round = 0; round < rounds; round++) {
      const field = { entity_type: 'deals', key: 'name', label: 'N', type: round % 2 === 0 ? 'string' : 'currency', rules: { default: 5 } }
      const { data, status } = await org.owner.post(`${org.path}/fields`, { ...field, rules: round % 2 === 0 ? {} : field.rules })
      t.is(status, 201)
      t.is((await org.owner.delete(`${org.path}/fields/${data.id}`)).status, 204)
    }
  }
  let done = false
  const writing = atOnce(8, org.owners, async (client) => {
    const answers = []
    while (!done) answers.push(await client.post(`${org.path}/records/deals`), await client.get(`${org.path}/records/deals?limit=5`))
    return answers
  })
  await change()
  done = true
  const answers = (await writing).flat()
  t.deepEqual(Object.keys(tally(answers)), ['200', '201'])
  const created = answers.filter(({ status }) => status === 201).length
  t.is((await org.owner.get(`${org.path}/types`)).data[4].record_count, created)
  await agrees(t, org)
})

test('types: a change of a busy table lets readers pass while it waits, and is made once the table is free', async (t) => {
  const org = await arena.ring()
  await org.owner.post(`${org.path}/types`, { key: 'deals', label: 'Deals' })
  const reader = await readTable(t, arena.world().db, dealsOf(org))
  const adding = org.owner.post(`${org.path}/fields`, { entity_type: 'deals', key: 'name', label: 'N', type: 'string' })
  await eventually(waiting)
  t.is((await org.owner.get(`${org.path}/records/deals`)).status, 200)
  await eventually(async () => !(await waiting()))
  await eventually(waiting)
  await reader.release()
  t.is((await adding).status, 201)
  await agrees(t, org)
})

/** Whether a statement waits for a table's lock. */
const waiting = async () => (await countLockWaits(arena.world().db, 'alter table%', 'relation')) > 0

/** Every table of the workspace's schema belongs to a type, every column to a field or to all records, and the other way round. */
async function agrees(t: { deepEqual: (actual: unknown, expected: unknown) => unknown }, org: Org): Promise<void> {
  const { db } = arena.world()
  const columns = await readColumns(db, org.id)
  t.deepEqual(columns.present, columns.needed)
  const indexes = await countIndexes(db, org.id)
  t.deepEqual(indexes.present, indexes.needed)
}
