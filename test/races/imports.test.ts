import test from 'ava'
import { holdAt } from '#test/core/records/hold.ts'
import { csv, importInto, records, totalOf, typeOf } from '#test/core/records/importing.ts'
import { eventually } from '#test/support/eventually.ts'
import { createMember, createOrg } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { countLockWaits } from '#test/support/waiting.ts'

const take = shareWorld(test)

test('imports: 20 imports of the same unique values at once create each value once', async (t) => {
  const w = await take()
  await typeOf(w, 'codes', { code: { unique: true } })
  const codes = Array.from({ length: 200 }, (_, index) => `c${index}`)
  const files = Array.from({ length: 20 }, (_, index) => `code\n${(index % 2 ? codes : codes.toReversed()).join('\n')}\n`)
  const answers = await Promise.all(files.map((file) => importInto(w, 'codes', file)))
  t.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
  t.is(
    answers.reduce((sum, { data }) => sum + data.created, 0),
    200,
  )
  t.is(
    answers.reduce((sum, { data }) => sum + data.failed, 0),
    19 * 200,
  )
  t.is(await totalOf(w, 'codes'), 200)
})

test('imports: a creation and an import that wait for each other both end with a consistent result', async (t) => {
  const w = await take()
  await typeOf(w, 'pairs', { one: { unique: true }, two: { unique: true }, note: {} })
  const hold = await holdAt(w, 'here', { type: 'pairs', field: 'note' })
  const importing = importInto(w, 'pairs', 'one,two,note\na,a,\nb,b,here\n')
  await hold.reached()
  // It holds b of the first field and waits for a of the second, which the import holds; the import then waits for b.
  const creating = w.org.owner.post(records(w, 'pairs'), { values: { one: 'b', two: 'a' } })
  await eventually(async () => (await countLockWaits(w.db, '%"pairs"%', 'transactionid')) > 0)
  await hold.release()
  const [imported, created] = [await importing, await creating]
  // Whichever of the two the database aborts, the other succeeds: both rows of the file exist, or the one creation.
  t.is(imported.data.created, created.status === 201 ? 0 : 2, created.text)
  t.true([201, 409].includes(created.status), created.text)
  t.is(await totalOf(w, 'pairs'), created.status === 201 ? 1 : 2)
})

test('imports: imports into two workspaces at once do not affect each other', async (t) => {
  const w = await take()
  const other = { ...w, org: await createOrg(w, 'Other') }
  const both = [w, other]
  for (const one of both) await typeOf(one, 'codes', { code: { unique: true } })
  const text = `code\n${Array.from({ length: 300 }, (_, index) => `c${index}`).join('\n')}\n`
  for (const { data } of await Promise.all(both.map((one) => importInto(one, 'codes', text)))) t.like(data, { created: 300, failed: 0 })
  for (const one of both) t.is(await totalOf(one, 'codes'), 300)
})

const long = `name,address,extra\n${Array.from({ length: 500 }, (_, index) => `row ${index + 1},a,b`).join('\n')}\n`

test('imports: a field that is deleted during an import is ignored in the rows that are left', async (t) => {
  const w = await take()
  const made = await w.org.owner.post(`${w.org.path}/fields`, { entity_type: 'locations', key: 'extra', label: 'Extra', type: 'string' })
  const hold = await holdAt(w, 'row 250')
  const running = importInto(w, 'locations', long)
  await hold.reached()
  const deleting = w.org.owner.delete(`${w.org.path}/fields/${made.data.id}`)
  await hold.release()
  t.like((await running).data, { created: 500, failed: 0, errors: [] })
  t.is((await deleting).status, 204)
  t.is(await totalOf(w, 'locations'), 500)
})

test('imports: a field that becomes required during an import applies to the rows that are left', async (t) => {
  const w = await take()
  const hold = await holdAt(w, 'row 250')
  const running = importInto(w, 'locations', long)
  await hold.reached()
  const field = { entity_type: 'locations', key: 'must', label: 'Must', type: 'string', required: true }
  const adding = w.org.owner.post(`${w.org.path}/fields`, field)
  await hold.release()
  t.is((await adding).status, 201)
  const { data } = await running
  t.is(data.created + data.failed, 500)
  t.true(data.created >= 300)
  t.is(await totalOf(w, 'locations'), data.created)
  for (const { message } of data.errors) t.is(message, 'values.must is required')
})

test('imports: an import completes although its member is removed meanwhile', async (t) => {
  const w = await take()
  const { client, id } = await createMember(w, w.org, [{ effect: 'allow', actions: ['records:*'] }])
  const hold = await holdAt(w, 'row 50')
  const { data } = await client.post(`${records(w, 'locations')}/import`, long, { ...csv, prefer: 'respond-async' })
  await hold.reached()
  t.is((await w.org.owner.delete(`${w.org.path}/members/${id}`)).status, 204)
  await hold.release()
  const job = async () => (await w.org.owner.get(`${w.org.path}/jobs/${data.job_id}`)).data
  const ended = await eventually(async () => {
    const found = await job()
    return found.finished_at !== null && found
  })
  t.is(ended.status, 'done')
  t.is(await totalOf(w, 'locations'), 500)
})
