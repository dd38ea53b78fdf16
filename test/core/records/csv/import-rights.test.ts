import test from 'ava'
import { importInto, importWith, records, typeOf, valuesOf } from '#test/core/records/importing.ts'
import { countAuditEntries } from '#test/core/records/rows.ts'
import { createMember } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const take = shareWorld(test)
const bySku = { upsert_by: 'sku' }

/** A type of goods with three records, and a member with these rules. */
async function goods(w: World, ...rules: readonly object[]) {
  await typeOf(w, 'goods', { sku: { unique: true }, name: {}, price: { type: 'number' }, secret: {} })
  await importInto(w, 'goods', 'sku,name,price,secret\nA,north,1,x\nB,south,2,y\nC,north,3,z\n')
  return (await createMember(w, w.org, rules)).client
}

const allow = (actions: readonly string[], more: object = {}) => ({ effect: 'allow', actions, ...more })
const north = { condition: { 'resource.name': { eq: 'north' } } }
const messagesOf = ({ errors }: { errors: { row: number; column?: string; message: string }[] }) =>
  errors.map(({ row, column, message }) => `${row} ${column ?? '-'} ${message}`)

test('import rights: a row of a record that the caller may not read is answered as a creation with a taken value', async (t) => {
  const w = await take()
  const client = await goods(w, allow(['records:read'], north), allow(['records:import', 'records:create', 'records:update']))
  const { data } = await importWith(w, 'goods', bySku, 'sku,name,price\nA,north,9\nB,south,2\nD,north,4\n', client)
  t.like(data, { created: 1, updated: 1, unchanged: 0, failed: 1 })
  const created = await client.post(records(w, 'goods'), { values: { sku: 'B' } })
  t.deepEqual(messagesOf(data), [`2 sku ${created.body.error.message}`])
  const judged = await importWith(w, 'goods', { ...bySku, dry_run: true }, 'sku,name\nB,south\n', client)
  t.deepEqual(messagesOf(judged.data), [`1 sku ${created.body.error.message}`])
  t.is((await valuesOf(w, 'goods'))[1]?.price, 2)
})

test('import rights: a change needs records:update on the record as stored, an unchanged row needs it not', async (t) => {
  const w = await take()
  const client = await goods(w, allow(['records:read', 'records:import']), allow(['records:update'], north))
  const { data } = await importWith(w, 'goods', bySku, 'sku,name,price\nA,south,1\nB,south,9\nC,,3\n', client)
  t.like(data, { created: 0, updated: 1, unchanged: 1, failed: 1 })
  t.deepEqual(messagesOf(data), ['2 - Needs records:update on this record'])
  const again = await importWith(w, 'goods', bySku, 'sku,name,price\nB,south,2\nA,south,5\n', client)
  t.like(again.data, { updated: 0, unchanged: 1, failed: 1 })
})

test('import rights: conditions of records:import are tested on a changed record as it becomes', async (t) => {
  const w = await take()
  const client = await goods(w, allow(['records:read', 'records:update']), allow(['records:import'], north))
  const { data } = await importWith(w, 'goods', bySku, 'sku,name,price\nA,,8\nB,,8\nC,south,8\n', client)
  t.like(data, { updated: 1, failed: 2 })
  t.deepEqual(messagesOf(data), [
    '2 - Needs records:import on goods with these values',
    '3 - Needs records:import on goods with these values',
  ])
})

test('import rights: a hidden value that the caller may write is always written, so that the answer does not tell it', async (t) => {
  const w = await take()
  const client = await goods(w, allow(['records:read'], { fields: { deny: ['secret'] } }), allow(['records:update', 'records:import']))
  const { data } = await importWith(w, 'goods', bySku, 'sku,secret\nA,x\nB,other\n', client)
  t.like(data, { updated: 2, unchanged: 0, failed: 0 })
})

test('import rights: an export of a masked caller imported again changes nothing that it cannot see', async (t) => {
  const w = await take()
  const hidden = { fields: { deny: ['secret'] } }
  const client = await goods(w, allow(['records:read', 'records:export', 'records:update', 'records:import'], hidden))
  const { text } = await client.get(`${records(w, 'goods')}/export`)
  const before = await countAuditEntries(w.db, w.org.id, {})
  t.like((await importWith(w, 'goods', bySku, text, client)).data, { created: 0, updated: 0, unchanged: 3, failed: 0 })
  t.is(await countAuditEntries(w.db, w.org.id, {}), before)
})

test('import rights: a changed record is tested with its computed fields as they become', async (t) => {
  const w = await take()
  await typeOf(w, 'goods', { sku: { unique: true }, size: { type: 'number' }, area: { type: 'number', formula: 'size*size' } })
  await importInto(w, 'goods', 'sku,size\nA,1\nB,9\n')
  const small = { condition: { 'resource.area': { lt: 10 } } }
  const { client } = await createMember(w, w.org, [allow(['records:read', 'records:update']), allow(['records:import'], small)])
  const { data } = await importWith(w, 'goods', bySku, 'sku,size\nA,5\nB,2\n', client)
  t.deepEqual(messagesOf(data), ['1 - Needs records:import on goods with these values'])
  t.deepEqual(
    (await valuesOf(w, 'goods')).map(({ area }) => area),
    [1, 4],
  )
})

test('import rights: the message for an unknown field of a map names no field that is hidden from the caller', async (t) => {
  const w = await take()
  const client = await goods(w, allow(['records:read'], { fields: { deny: ['secret'] } }), allow(['records:import']))
  for (const key of ['secre', '']) {
    const { body } = await importWith(w, 'goods', { map: JSON.stringify({ sku: key }) }, 'sku\nD\n', client)
    t.notRegex(body.error.message, /secret/)
    const { body: owner } = await importWith(w, 'goods', { map: JSON.stringify({ sku: key }) }, 'sku\nD\n')
    t.regex(owner.error.message, /secret/)
  }
})
