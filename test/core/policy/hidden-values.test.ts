import test, { type ExecutionContext } from 'ava'
import { allow } from '#test/core/policy/rules.ts'
import { eventually } from '#test/support/eventually.ts'
import { createMember } from '#test/support/factories.ts'
import { countOpenOperations } from '#test/support/rows.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { startWorkerProcess } from '#test/support/worker-process.ts'
import type { World } from '#test/support/world.ts'

const start = shareWorld(test)
const withoutWorkers = shareWorld(test, {}, { pools: [] })

/**
 * A type with a salary, a grade and a field computed from the salary, one record of it, and a function that makes a caller with given
 * rules.
 */
async function staff(given?: World) {
  const w = given ?? (await start())
  const { org } = w
  await org.owner.post(`${org.path}/types`, { key: 'staff', label: 'Staff' })
  const fields = [
    { key: 'name', type: 'string' },
    { key: 'salary', type: 'number' },
    { key: 'grade', type: 'select', immutable: true, rules: { options: ['low', 'high'] } },
    { key: 'points', type: 'number', rules: { default: 7 } },
    { key: 'bonus', type: 'number' },
  ]
  const ids: Record<string, string> = {}
  for (const field of fields) {
    ids[field.key] = (await org.owner.post(`${org.path}/fields`, { entity_type: 'staff', label: field.key, ...field })).data.id
  }
  const formulaOf = (key: string) => `${org.path}/fields/${ids[key]}/formula`
  await org.owner.put(formulaOf('bonus'), { formula: 'salary * 2' })
  const records = `${org.path}/records/staff`
  const { data } = await org.owner.post(records, { values: { name: 'Ann', salary: 100, grade: 'low' } })
  const as = async (...rules: object[]) => (await createMember(w, org, rules)).client
  return { w, org, records, record: `${records}/${data.id}`, field: (key: string) => `${org.path}/fields/${ids[key]}`, formulaOf, as }
}

const masked = { resources: ['staff'], fields: { deny: ['salary', 'grade'] } }

test('hidden values: a hidden immutable value cannot be found out by sending it', async (t) => {
  const { as, record, org } = await staff()
  const member = await as(allow(['records:read', 'records:update'], masked))
  const answers = await Promise.all(['low', 'high', null].map((grade) => member.put(`${record}/values`, { values: { grade } })))
  t.deepEqual(
    answers.map(({ status, body }) => [status, body.error.message]),
    Array(3).fill([400, 'values.grade cannot change after creation']),
  )
  t.is((await org.owner.put(`${record}/values`, { values: { grade: 'low' } })).status, 204, 'a caller that sees the value may send it back')
})

test('hidden values: a hidden value cannot be found out by the version after it was sent', async (t) => {
  const { as, record } = await staff()
  const member = await as(allow(['records:read', 'records:update'], { ...masked, fields: { deny: ['salary'] } }))
  const version = async () => (await member.get(record)).data.updated_at
  const before = await version()
  t.is((await member.put(`${record}/values`, { values: { name: 'Ann' } })).status, 204)
  t.is(await version(), before, 'a visible value that is the same is no change')
  t.is((await member.put(`${record}/values`, { values: { salary: 100 } })).status, 204)
  t.not(await version(), before)
})

test('hidden values: nobody sets a formula over hidden fields, or limits its results, but who reads no record', async (t) => {
  const { as, org, formulaOf, field } = await staff()
  const designer = await as(allow(['records:read', 'fields:create'], masked))
  const refused = await designer.put(formulaOf('points'), { formula: 'IF(salary > 50, 1, 1/0)' })
  t.deepEqual([refused.status, refused.body.error.message], [403, 'Needs records:read of points in every record of staff'])
  t.is((await designer.put(formulaOf('points'), { formula: 'LEN(name)' })).status, 200)
  t.is((await designer.patch(field('bonus'), { rules: { max: 500 } })).status, 403)
  const blind = await as(allow('fields:create'))
  t.is((await blind.put(formulaOf('points'), { formula: 'salary + 1' })).status, 200)
  t.is((await org.owner.patch(field('bonus'), { rules: { max: 500 } })).status, 200)
})

test('hidden values: values computed of hidden fields stay hidden from an author of another formula', async (t) => {
  const { as, org, record, formulaOf, w } = await staff()
  const designer = await as(allow(['records:read', 'fields:create'], masked))
  t.is((await org.owner.put(formulaOf('points'), { formula: 'salary + 0' })).status, 200)
  await w.drain()
  for (const key of ['bonus', 'points']) {
    const answers = [await designer.put(formulaOf(key), { formula: '1 + 1' }), await designer.delete(formulaOf(key))]
    t.deepEqual(
      answers.map(({ status, body }) => [status, body.error.message]),
      Array(2).fill([403, `Needs records:read of ${key} in every record of staff`]),
    )
  }
  t.deepEqual((await designer.get(record)).data.values, { name: 'Ann' })
})

/** The records' values as a caller sees them once all jobs have ended. */
const recomputed = async (t: ExecutionContext, w: World, seen: () => Promise<unknown>) => {
  await startWorkerProcess(t, w, 'data')
  await eventually(async () => (await countOpenOperations(w.db, w.org.id)) === 0)
  return seen()
}

test('hidden values: a formula removed by a caller that does not read every input leaves no result to anybody', async (t) => {
  const w = await withoutWorkers()
  const { as, org, record, formulaOf, field } = await staff(w)
  t.is((await org.owner.put(formulaOf('points'), { formula: 'bonus * 10' })).status, 200)
  t.is((await org.owner.put(`${record}/values`, { values: { name: 'Ann' } })).status, 204)
  const code = { entity_type: 'staff', key: 'code', label: 'Code', type: 'currency', unique: true }
  const { data } = await org.owner.post(`${org.path}/fields`, code)
  t.is((await org.owner.put(`${org.path}/fields/${data.id}/formula`, { formula: 'salary + 1' })).status, 200)
  t.is((await org.owner.put(`${record}/values`, { values: { salary: 101 } })).status, 204)
  const all = { name: 'Ann', salary: 101, grade: 'low', bonus: 202, points: 2020, code: { amount: 102, code: 'USD' } }
  const whole = async () => (await org.owner.get(record)).data.values
  t.deepEqual(await whole(), all)

  const member = await as(allow(['records:read', 'records:create'], masked))
  const seen = async () => (await member.get(record)).data.values
  const blind = await as(allow('fields:create'))
  for (const key of ['bonus', 'code']) {
    const path = key === 'code' ? `${org.path}/fields/${data.id}/formula` : formulaOf(key)
    t.is((await blind.delete(path)).status, 204, key)
  }
  t.deepEqual(await seen(), { name: 'Ann', bonus: null, code: null })
  t.deepEqual(await whole(), { ...all, bonus: null, code: null })
  t.deepEqual(
    await recomputed(t, w, seen),
    { name: 'Ann', bonus: null, code: null, points: 0 },
    'other formulas were computed anew without it',
  )
  t.is((await org.owner.put(`${record}/values`, { values: { bonus: 7, code: '5' } })).status, 204)
  t.deepEqual(await seen(), { name: 'Ann', bonus: 7, points: 70, code: { amount: 5, code: 'USD' } }, 'the fields are plain ones')
  t.is((await member.post(`${org.path}/records/staff`, { values: { code: '5' } })).status, 409, 'and unique as before')
  t.is((await org.owner.delete(field('bonus'))).status, 400, 'points reads it')
})

test('hidden values: a formula removed by a caller that reads some records leaves no result to those who read others', async (t) => {
  const { as, org, record, formulaOf } = await staff()
  const some = await as(allow('fields:create'), allow('records:read', { condition: { 'resource.name': { ne: 'Ann' } } }))
  t.is((await some.delete(formulaOf('bonus'))).status, 204)
  t.is((await org.owner.get(record)).data.values.bonus, null)
})

test('hidden values: a formula removed before another one was recomputed leaves no result of the former', async (t) => {
  const w = await withoutWorkers()
  const { as, org, record, formulaOf, field } = await staff(w)
  const member = await as(allow('records:read', masked))
  const seen = async () => (await member.get(record)).data.values
  t.is((await org.owner.put(formulaOf('bonus'), { formula: 'LEN(name)' })).status, 200)
  t.is((await org.owner.delete(formulaOf('bonus'))).status, 204)
  t.deepEqual(await seen(), { name: 'Ann', bonus: null, points: 7 })
  t.is((await member.get(`${org.path}/records/staff?sort=bonus`)).status, 200, 'it is a plain field')

  t.is((await org.owner.put(formulaOf('bonus'), { formula: 'salary * 3' })).status, 200)
  t.is((await org.owner.put(formulaOf('points'), { formula: 'bonus + 0' })).status, 200)
  t.is((await org.owner.put(`${record}/values`, { values: { salary: 200 } })).status, 204)
  t.like((await org.owner.get(record)).data.values, { bonus: 600, points: 600 })
  t.is((await org.owner.put(formulaOf('points'), { formula: 'LEN(name)' })).status, 200)
  t.is((await org.owner.delete(field('bonus'))).status, 204)
  t.deepEqual(await seen(), { name: 'Ann' }, 'the results derive from the salary through a field that is gone')
  t.is((await member.get(`${org.path}/records/staff?sort=points`)).status, 400)
  t.deepEqual(await recomputed(t, w, seen), { name: 'Ann', points: 3 })
})

test('hidden values: hidden values are not counted against new rules', async (t) => {
  const { as, field } = await staff()
  const tighter = { rules: { max: 50 } }
  const open = { resources: ['staff'] }
  const refused = [
    await as(allow(['records:read', 'fields:create'], masked)),
    await as(allow('fields:create', open)),
    await as(allow('fields:create', open), allow('records:read', { ...open, condition: { 'resource.name': { ne: 'Ann' } } })),
  ]
  for (const client of refused) {
    const { status, body } = await client.patch(field('salary'), tighter)
    t.deepEqual([status, body.error.message], [403, 'Needs records:read of salary in every record of staff'])
    t.is((await client.patch(field('salary'), { label: 'Pay' })).status, 200, 'a change that reads no values is permitted')
  }
  const seeing = await as(allow(['records:read', 'fields:create'], open))
  t.is((await seeing.patch(field('salary'), tighter)).body.error.message, 'rules.max: 1 record breaks it')
})

test('hidden values: a caller that may create but not read sees no values, not even those that it sent', async (t) => {
  const { as, records } = await staff()
  const reading = allow('records:read', { condition: { 'resource.name': { eq: 'Ann' } } })
  const member = await as(allow('records:create'), reading)
  const create = (name: string) => member.post(records, { values: { name } })
  t.deepEqual((await create('Bob')).data.values, {})
  t.is((await create('Ann')).data.values.points, 7)
  const { data } = await member.post(`${records}/batch`, { operations: [{ op: 'create', values: { name: 'Bob' } }] })
  t.deepEqual(data.results[0].record.values, {})
})

test('hidden values: a value computed of hidden fields stays hidden until the next formula has replaced it in every record', async (t) => {
  const w = await withoutWorkers()
  const { as, org, record, field, formulaOf } = await staff(w)
  await org.owner.put(formulaOf('points'), { formula: 'bonus * 10' })
  const changer = await createMember(w, org, [allow(['records:read', 'fields:create'])])
  t.is((await changer.client.put(formulaOf('bonus'), { formula: '1 + 1' })).status, 200)
  t.is((await changer.client.put(formulaOf('bonus'), { formula: '2 + 2' })).status, 200)
  const member = await as(allow(['records:read', 'records:export'], masked))
  const seen = async () => (await member.get(record)).data.values
  t.deepEqual(await seen(), { name: 'Ann' }, 'the value was computed from the salary')
  t.is((await member.get(`${org.path}/records/staff?sort=bonus`)).status, 400)
  t.is((await org.owner.delete(field('salary'))).status, 204)
  t.deepEqual(await seen(), { name: 'Ann' }, 'also after the deletion of the salary')
  await org.owner.delete(`${org.path}/members/${changer.id}`)
  await startWorkerProcess(t, w, 'data')
  await eventually(async () => (await countOpenOperations(w.db, w.org.id)) === 0)
  t.deepEqual(await seen(), { name: 'Ann', bonus: 4, points: 40 })
})

test('hidden values: a unique field computes nothing that its author does not read in every record', async (t) => {
  const { as, org, formulaOf } = await staff()
  const { data: code } = await org.owner.post(`${org.path}/fields`, {
    entity_type: 'staff',
    key: 'code',
    label: 'C',
    type: 'number',
    unique: true,
  })
  const { data: rank } = await org.owner.post(`${org.path}/fields`, { entity_type: 'staff', key: 'rank', label: 'R', type: 'number' })
  const formulaOfCode = `${org.path}/fields/${code.id}/formula`
  const designer = await as(allow(['records:read', 'fields:create'], masked))
  const refusal = 'code is unique, so its formula may read only fields that you read in every record of staff'
  for (const formula of ['salary + 0', 'bonus + 0', 'if(salary > 50, 1, 0)']) {
    const { status, body } = await designer.put(formulaOfCode, { formula })
    t.deepEqual([status, body.error.message], [403, refusal], formula)
  }
  const some = await as(allow('records:read', { condition: { 'resource.points': { eq: 7 } } }), allow('fields:create'))
  t.is((await some.put(formulaOfCode, { formula: 'points + 0' })).status, 403, 'of some records only')
  const blind = await as(allow('fields:create'))
  t.is((await blind.put(formulaOfCode, { formula: 'points + 0' })).status, 403, 'of no record')

  t.is((await designer.put(formulaOfCode, { formula: 'rank + 0' })).status, 200)
  const { status, body } = await designer.put(`${org.path}/fields/${rank.id}/formula`, { formula: 'salary + 0' })
  t.deepEqual([status, body.error.message], [403, refusal], 'through another formula')
  t.is((await blind.put(formulaOf('points'), { formula: 'salary + 0' })).status, 403, 'a field that a role tests')
  const { data: spare } = await org.owner.post(`${org.path}/fields`, { entity_type: 'staff', key: 'spare', label: 'S', type: 'number' })
  t.is((await blind.put(`${org.path}/fields/${spare.id}/formula`, { formula: 'salary + 0' })).status, 200, 'a field that is not unique')
  t.is((await org.owner.put(formulaOfCode, { formula: 'salary + 0' })).status, 200, 'the owner')
  t.is((await org.owner.patch(`${org.path}/fields/${code.id}`, { rules: { max: 1_000 } })).status, 200)
  const changed = await designer.patch(`${org.path}/fields/${code.id}`, { rules: {} })
  t.deepEqual([changed.status, changed.body.error.message], [403, refusal], 'rules decide which results are kept')
  t.is((await designer.patch(`${org.path}/fields/${code.id}`, { label: 'Code' })).status, 200)
})
