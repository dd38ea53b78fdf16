import test from 'ava'
import { maxFields } from '#shared/core/types/fields/create-field.ts'
import { changeTable } from '#shared/core/types/tables/change-table.ts'
import { maxColumns, schemaOf } from '#shared/core/types/tables/table-names.ts'
import { maxTypes } from '#shared/core/types/types/create-type.ts'
import { maxModules } from '#shared/core/types/types/menu-groups.ts'
import { createDeals } from '#test/core/types/fields-support.ts'
import {
  addMenuGroups,
  addTypes,
  dropColumns,
  dropTable,
  listIndexDefinitions,
  readReferencePlan,
  setColumnCount,
} from '#test/core/types/rows.ts'
import { readTable } from '#test/support/locks.ts'
import { readColumn } from '#test/support/rows.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const start = shareWorld(test)

test('limits: a type has fields up to a limit, and a record with any values fits into a row', async (t) => {
  const w = await start()
  const { org, add, records } = await createDeals(w)
  await dropColumns(w.db, `${schemaOf(org.id)}.deals`, maxColumns - maxFields - 4)
  for (let index = 0; index < maxFields; index++) t.is((await add({ key: `field_${index}` })).status, 201)
  const refused = await add({ key: 'one_more' })
  t.is(refused.status, 400)
  t.is(refused.body.error.message, `a record type has at most ${maxFields} fields`)
  // Text of 23 bytes is the worst case: it stays in the row, and longer text leaves 18 bytes there.
  for (const length of [23, 24, 500]) {
    const values = Object.fromEntries(Array.from({ length: maxFields }, (_, index) => [`field_${index}`, 'x'.repeat(length)]))
    const made = await org.owner.post(records, { values })
    t.is(made.status, 201)
    t.deepEqual((await org.owner.get(`${records}/${made.data.id}`)).data.values, values)
  }
})

test('limits: deleted fields count towards the columns that a table may ever have', async (t) => {
  const w = await start()
  const { org, add, list } = await createDeals(w)
  await setColumnCount(w.db, org.id, 'deals', maxColumns - 2)
  t.is((await add({ key: 'first', type: 'currency' })).status, 201)
  for (const type of ['string', 'currency']) {
    const refused = await add({ key: 'second', type })
    t.is(refused.status, 400)
    t.regex(refused.body.error.message, /^deals has had 1500 columns/)
  }
  t.is((await list()).length, 1)
})

test('limits: a workspace has record types and menu groups up to a limit', async (t) => {
  const w = await start()
  const { org } = w
  await addTypes(w.db, org.id, maxTypes - 5)
  const type = (key: string) => org.owner.post(`${org.path}/types`, { key, label: 'T' })
  t.is((await type('last')).status, 201)
  t.is((await type('one_more')).body.error.message, `a workspace has at most ${maxTypes} record types`)
  t.is((await org.owner.get(`${org.path}/types`)).data.length, maxTypes)
  await addMenuGroups(w.db, org.id, maxModules - 1)
  const group = (slug: string) => org.owner.post(`${org.path}/modules`, { slug, name: 'M' })
  t.is((await group('last')).status, 201)
  t.is((await group('last')).status, 200)
  t.is((await group('one-more')).body.error.message, `a workspace has at most ${maxModules} menu groups`)
})

test('limits: a change of a table that is never free fails, and the caller learns when to retry', async (t) => {
  const w = await start()
  const { org } = await createDeals(w)
  const table = `${schemaOf(org.id)}.deals`
  const reader = await readTable(t, w.db, table)
  const change = changeTable({ db: w.api.services.database, workspace: org }, (tx) => tx.query(dropTable(table)), 0)
  const error = await t.throwsAsync(change, { message: /in use without a break/ })
  t.like(error, { code: 'ORG_NOT_READY', status: 503, headers: { 'Retry-After': '5' } })
  await reader.release()
  t.is((await org.owner.get(`${org.path}/records/deals`)).status, 200)
})

test('limits: an index of a field holds the records with a value, and finds them', async (t) => {
  const w = await start()
  const { org, add } = await createDeals(w)
  const schema = schemaOf(org.id)
  const { data } = await add({ key: 'parent', type: 'ref', unique: true, rules: { ref_type: 'deals' } })
  const definitions = await listIndexDefinitions(w.db, schema)
  const ofField = definitions.filter((definition) => /\(parent_\d+\b/.test(definition))
  t.is(ofField.length, 2)
  for (const definition of ofField) t.regex(definition, /WHERE \(parent_\d+ IS NOT NULL\)$/)
  const column = await readColumn(w.db, org.id, 'deals', 'parent')
  const client = await w.db.connect()
  t.teardown(() => client.release(true))
  const plan = await readReferencePlan(client, `${schema}.deals`, column, data.id)
  t.regex(plan, new RegExp(`Index Only Scan using ref_${data.id.replaceAll('-', '')}`))
})

test('limits: the patterns of a type have a common limit, since each record is matched against all of them', async (t) => {
  const w = await start()
  const { org, add } = await createDeals(w)
  const large = '(?:a?){480}a{480}'
  let made = 0
  for (let answer = await add({ key: 'p0', type: 'string', rules: { pattern: large } }); answer.status === 201; made += 1) {
    answer = await add({ key: `p${made + 1}`, type: 'string', rules: { pattern: large } })
    if (answer.status !== 201) t.regex(answer.body.error.message, /^rules\.pattern: the patterns of a type/)
  }
  t.true(made > 5 && made < 30, `${made}`)
  const { data } = await add({ key: 'plain', type: 'string', rules: { pattern: '^[a-z]+$' } })
  t.is((await org.owner.patch(`${org.path}/fields/${data.id}`, { rules: { pattern: large } })).status, 400)
  t.is((await org.owner.patch(`${org.path}/fields/${data.id}`, { label: 'Plain' })).status, 200)
})
