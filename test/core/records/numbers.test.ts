import test from 'ava'
import { createOrg } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { world } from '#test/support/world.ts'

const start = shareWorld(test)

/** Creates a type with a numbered field `number`, and returns functions that use it. */
async function numbered(field: object = { unique: true }, w?: Awaited<ReturnType<typeof start>>) {
  const { org } = w ?? (await start())
  const { owner, path } = org
  await owner.post(`${path}/types`, { key: 'deals', label: 'Deals' })
  const add = (more: object) => owner.post(`${path}/fields`, { entity_type: 'deals', label: 'F', type: 'string', ...more })
  const { data } = await add({ key: 'number', ...field })
  const records = `${path}/records/deals`
  return {
    org,
    add,
    records,
    field: `${path}/fields/${data.id}`,
    number: (pattern: string, next?: number | null) =>
      owner.put(`${path}/fields/${data.id}/autogen`, next === undefined ? { pattern } : { pattern, next }),
    send: (values: object = {}) => owner.post(records, { values }),
    create: async (values: object = {}): Promise<string | null> => (await owner.post(records, { values })).data.values.number,
    import: (csv: string) => owner.post(`${records}/import`, csv, { 'content-type': 'text/csv' }),
    all: async (): Promise<(string | null)[]> =>
      (await owner.get(`${records}?limit=200&sort=created_at&dir=asc`)).data.records.map(
        (record: { values: { number: string | null } }) => record.values.number,
      ),
  }
}

test('numbers: numbers begin with 1, and a value that looks like one does not change the counter', async (t) => {
  const { number, create } = await numbered({})
  await number('D-{seq:3}')
  t.is(await create(), 'D-001')
  t.is(await create({ number: 'D-500' }), 'D-500')
  t.is(await create({ number: null }), 'D-002')
  t.is(await create({ number: '' }), 'D-003')
})

test('numbers: next above 0 is the least of the next numbers; the counter never goes back', async (t) => {
  const { number, create } = await numbered()
  await number('{seq}', 10)
  t.is(await create(), '10')
  await number('{seq}', 5)
  t.is(await create(), '11')
  for (const next of [0, -5, null]) {
    t.is((await number('{seq}', next)).status, 200)
  }
  t.is(await create(), '12')
  await number('{seq}', 13)
  t.is(await create(), '13')
  await number('{seq}', 1e15)
  t.is(await create(), '1000000000000000')
  for (const next of [1.5, 1e15 + 1, '5']) t.is((await number('{seq}', next as number)).status, 400)
})

test('numbers: another pattern and a pause keep the counter, so no number is issued twice', async (t) => {
  const { number, create, field, org } = await numbered()
  await number('A{seq}')
  t.is(await create(), 'A1')
  await number('B{seq}')
  t.is(await create(), 'B2')
  t.is((await org.owner.delete(`${field}/autogen`)).status, 204)
  t.is((await org.owner.delete(`${field}/autogen`)).status, 204)
  t.is(await create(), null)
  await number('A{seq}')
  t.is(await create(), 'A3')
})

test('numbers: only numbers that a unique field holds are skipped', async (t) => {
  const { number, create } = await numbered()
  for (const held of ['D2', 'D4', 'D5']) await create({ number: held })
  await number('D{seq}')
  t.deepEqual([await create(), await create(), await create(), await create()], ['D1', 'D3', 'D6', 'D7'])
})

test('numbers: a number that a field without unique holds is issued', async (t) => {
  const { number, create } = await numbered({})
  await create({ number: 'D1' })
  await number('D{seq}')
  t.is(await create(), 'D1')
})

test('numbers: hundreds of held numbers are skipped, singly and by fifty, in an import and in a batch', async (t) => {
  const { number, create, send, records, org, add, ...type } = await numbered()
  await add({ key: 'name' })
  const held = Array.from({ length: 450 }, (_, index) => `D${index + 1}`)
  t.is((await type.import(`number\n${held.join('\n')}\n`)).data.created, 450)
  await number('D{seq}')
  const answers = await Promise.all(Array.from({ length: 50 }, () => send()))
  const issued = answers.map(({ status, data, text }) => (status === 201 ? data.values.number : text))
  t.deepEqual(
    [...issued].sort(),
    Array.from({ length: 50 }, (_, index) => `D${index + 451}`),
  )
  t.is(await create(), 'D501')
  await create({ number: 'D503' })
  t.like((await type.import('number,name\n,a\nD999,b\n,c\n,d\n')).data, { created: 4, failed: 0 })
  const { data } = await org.owner.post(`${records}/batch`, {
    operations: [{ op: 'create' }, { op: 'create', values: { number: 'D507' } }, { op: 'create' }, { op: 'create' }],
  })
  const batch = data.results.map(({ record }: { record: { values: { number: string } } }) => record.values.number)
  t.is(new Set(batch).size, 4)
  const all = (await org.owner.get(`${records}/export`)).text.match(/D\d+/g) ?? []
  t.is(new Set(all).size, all.length)
})

test('numbers: an import numbers its rows in their order and leaves given numbers alone', async (t) => {
  const { number, all, add, ...type } = await numbered()
  await add({ key: 'name' })
  await number('D{seq:2}')
  t.deepEqual((await type.import('name,number\na,\nb,X\nc,\n')).data, {
    created: 3,
    updated: 0,
    unchanged: 0,
    failed: 0,
    errors: [],
    ignored_columns: [],
  })
  t.deepEqual(await all(), ['D01', 'X', 'D02'])
})

test('numbers: a batch numbers its records in their order, and a rolled-back batch returns its numbers', async (t) => {
  const { number, all, records, org } = await numbered()
  await number('D{seq}')
  const batch = (operations: object[], atomic = false) => org.owner.post(`${records}/batch`, { operations, atomic })
  t.is((await batch([{ op: 'create' }, { op: 'create', values: { nope: 1 } }, { op: 'create' }])).status, 200)
  t.is((await batch([{ op: 'create' }, { op: 'create', values: { nope: 1 } }], true)).status, 400)
  await batch([{ op: 'create' }])
  const numbers = await all()
  t.deepEqual(numbers.slice(0, 2), ['D1', 'D2'])
  t.is(new Set(numbers).size, 3)
})

test('numbers: a number takes precedence over a default and satisfies a required field', async (t) => {
  const { number, create } = await numbered({ required: true, rules: { default: 'none' } })
  t.is(await create(), 'none')
  await number('D{seq}')
  t.is(await create(), 'D1')
  t.is(await create({ number: '' }), 'D2')
})

test('numbers: numbers keep the rules of their field', async (t) => {
  const { number, create, send, add, ...type } = await numbered({ unique: true, rules: { max_len: 3, pattern: '^\\d+$' } })
  await add({ key: 'name' })
  const refused = await number('D{seq:2}')
  t.is(refused.status, 400)
  t.regex(refused.body.error.message, /^pattern: D01 must be/)
  t.is((await number('{seq:4}')).status, 400)
  t.is((await number('{seq}', 1000)).status, 400)
  t.is((await number('{seq}', 999)).status, 200)
  t.is(await create(), '999')
  t.regex((await send()).body.error.message, /^values\.number must be at most 3/)
  t.like((await type.import('number,name\n,a\n7,b\n')).data, { created: 1, failed: 1 })
})

test('numbers: only string fields that are not computed have numbers', async (t) => {
  const { org, add, field, number } = await numbered({})
  for (const type of ['text', 'number', 'bool', 'date', 'datetime', 'currency', 'email', 'url', 'file']) {
    const { data } = await add({ key: `a_${type}`, type })
    const answer = await org.owner.put(`${org.path}/fields/${data.id}/autogen`, { pattern: '{seq}' })
    t.is(answer.status, 400, type)
    t.regex(answer.body.error.message, /string/)
  }
  t.is((await org.owner.put(`${field}/formula`, { formula: '"x"' })).status, 200)
  t.regex((await number('{seq}')).body.error.message, /computed/)
  t.is((await org.owner.delete(`${field}/formula`)).status, 204)
  t.is((await number('{seq}')).status, 200)
  t.regex((await org.owner.put(`${field}/formula`, { formula: '"x"' })).body.error.message, /is auto-numbered/)
  const [builtin] = (await org.owner.get(`${org.path}/fields?entity_type=invoices`)).data
  for (const call of [
    org.owner.put(`${org.path}/fields/${builtin.id}/autogen`, { pattern: '{seq}' }),
    org.owner.delete(`${org.path}/fields/${builtin.id}/autogen`),
  ])
    t.is((await call).status, 404)
})

test('numbers: a formula and a pattern set at once on one field exclude each other', async (t) => {
  for (let round = 0; round < 10; round++) {
    const { number, field, org } = await numbered({})
    const answers = await Promise.all([number('{seq}'), org.owner.put(`${field}/formula`, { formula: '"x"' })])
    t.deepEqual(answers.map(({ status }) => status).sort(), [200, 400])
    const [kept] = (await org.owner.get(`${org.path}/fields?entity_type=deals`)).data
    t.not(kept.autogen !== '', kept.rules.formula !== undefined)
  }
})

test('numbers: numbers restart with the day, the month or the year in UTC, and next applies to the present one', async (t) => {
  let now = new Date('2024-02-28T23:59:59.999Z')
  const w = await world({}, undefined, () => now)
  t.teardown(w.close)
  const patterns = {
    daily: '{yyyy}{mm}{dd}-{seq:2:daily}',
    monthly: '{yyyy}{mm}-{seq:2:monthly}',
    yearly: '{yy}-{seq:2:yearly}',
    never: '{yyyy}-{seq}',
  }
  const types = await Promise.all(
    Object.values(patterns).map(async (pattern) => {
      const type = await numbered({ unique: true }, { ...w, org: await createOrg(w) })
      t.is((await type.number(pattern)).status, 200)
      return type
    }),
  )
  const next = async (at: string) => {
    now = new Date(at)
    const numbers = []
    for (const { create } of types) numbers.push(await create())
    return numbers
  }
  t.deepEqual(await next('2024-02-28T23:59:59.999Z'), ['20240228-01', '202402-01', '24-01', '2024-1'])
  t.deepEqual(await next('2024-02-29T00:00:00.000Z'), ['20240229-01', '202402-02', '24-02', '2024-2'])
  t.deepEqual(await next('2024-03-01T00:00:00.000Z'), ['20240301-01', '202403-01', '24-03', '2024-3'])
  t.deepEqual(await next('2024-12-31T23:59:59.999Z'), ['20241231-01', '202412-01', '24-04', '2024-4'])
  for (const [index, pattern] of Object.values(patterns).entries()) await types[index]?.number(pattern, 50)
  t.deepEqual(await next('2024-12-31T23:59:59.999Z'), ['20241231-50', '202412-50', '24-50', '2024-50'])
  t.deepEqual(await next('2025-01-01T00:00:00.000Z'), ['20250101-01', '202501-01', '25-01', '2025-51'])
  t.deepEqual(await next('2024-12-31T23:59:59.999Z'), ['20241231-51', '202412-51', '24-51', '2024-52'])
  await types[0]?.add({ key: 'name' })
  const imported = await types[0]?.import('number,name\n,a\n,b\n')
  t.is(imported?.data.created, 2)
  t.deepEqual((await types[0]?.all())?.slice(-2), ['20241231-52', '20241231-53'])
})
