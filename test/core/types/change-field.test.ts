import test from 'ava'
import { createDeals, missing } from '#test/core/types/fields-support.ts'
import { eventually } from '#test/support/eventually.ts'
import { createMember } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const start = shareWorld(test)

/** Creates a type with one field, and returns functions that change the field and create records. */
async function withField(field: object) {
  const w = await start()
  const deals = await createDeals(w)
  const made = await deals.add({ key: 'name', ...field })
  if (made.status !== 201) throw new Error(made.text)
  const path = `${deals.org.path}/fields/${made.data.id}`
  return {
    ...deals,
    w,
    field: made.data,
    path,
    change: (body: unknown, headers?: Record<string, string>) => deals.org.owner.patch(path, body, headers),
    create: (values: object) => deals.org.owner.post(deals.records, { values }),
    read: async () => (await deals.list())[0],
  }
}

test('change field: label, description, required and rules change separately, and null clears', async (t) => {
  const { field, change, read } = await withField({ description: 'old', required: true, rules: { max_len: 5, default: 'x' } })
  const labelled = await change({ label: 'New' })
  t.is(labelled.status, 200, labelled.text)
  t.deepEqual(labelled.data, { ...field, label: 'New' })
  t.deepEqual((await change({ description: 'new' })).data, { ...field, label: 'New', description: 'new' })
  t.deepEqual((await change({ description: null, required: null })).data, { ...field, label: 'New', description: '', required: false })
  t.deepEqual((await change({ rules: null })).data, { ...field, label: 'New', description: '', required: false, rules: {} })
  const last = await change({ required: true, rules: { min_len: 1, pattern: '^a', max_len: null } })
  t.deepEqual(last.data, { ...field, label: 'New', description: '', rules: { min_len: 1, pattern: '^a' } })
  t.deepEqual(await read(), last.data)
  t.deepEqual((await change({})).data, last.data)
})

const whole = [
  { type: 'string', rules: { min_len: 1, max_len: 9, pattern: '^[a-z]+$', default: 'abc' } },
  { type: 'text', rules: { max_len: 100_000, default: '\u{1f600}' } },
  { type: 'number', rules: { min: -1.5, max: 99999999999999, default: 0.000001 } },
  { type: 'currency', rules: { min: 0, unit: 'JPY', default: { amount: 5, code: 'JPY' } } },
  { type: 'currency', rules: { default: 7 } },
  { type: 'bool', rules: { default: false } },
  { type: 'date', rules: { default: '2026-01-31' } },
  { type: 'datetime', rules: { default: '2026-01-31T00:00:00Z' } },
  { type: 'select', rules: { options: ['a', 'b'], default: 'b' } },
  { type: 'multiselect', rules: { options: ['a', 'b'], default: ['b', 'a'] } },
  { type: 'email', rules: { max_len: 50, default: 'a@example.com' } },
  { type: 'url', rules: { default: 'https://example.com' } },
  { type: 'file', rules: { default: 'a/b.txt' } },
  { type: 'ref', rules: { ref_type: 'deals', default: missing } },
  { type: 'refs', rules: { ref_type: 'deals', default: [missing] } },
]
for (const field of whole) {
  test(`change field: a ${field.type} field can be sent back as it was read: ${JSON.stringify(field.rules)}`, async (t) => {
    const { change, read } = await withField(field)
    const before = await read()
    const answer = await change(before)
    t.is(answer.status, 200, answer.text)
    t.deepEqual(answer.data, before)
    t.deepEqual(await read(), before)
  })
}

test('change field: bounds keep their digits', async (t) => {
  const { org, path } = await withField({ type: 'number' })
  const sent = '{"rules":{"min":0.000001,"max":12345678901234.123456,"default":99999999999.123456}}'
  const answer = await org.owner.patch(path, sent, { 'content-type': 'application/json' })
  t.true(answer.text.includes('"max":12345678901234.123456'), answer.text)
  t.true((await org.owner.get(`${org.path}/fields?entity_type=deals`)).text.includes('"max":12345678901234.123456'))
})

const bad: readonly [object, unknown, RegExp][] = [
  [{}, { label: '' }, /^label/],
  [{}, { label: null }, /^label/],
  [{}, { label: 'x'.repeat(101) }, /^label/],
  [{}, { description: 'x'.repeat(256) }, /^description/],
  [{}, { required: 'yes' }, /^required/],
  [{}, { rules: [] }, /^rules must be an object/],
  [{}, { rules: 5 }, /^rules must be an object/],
  [{}, { rules: { min: 1 } }, /^rules\.min is no rule of a string field/],
  [{}, { rules: { nope: 1 } }, /^rules\.nope is no rule/],
  [{}, { rules: { min_len: 5, max_len: 4 } }, /^rules\.min_len/],
  [{}, { rules: { pattern: '(' } }, /^rules\.pattern/],
  [{}, { rules: { pattern: '(?=a)' } }, /^rules\.pattern/],
  [{}, { rules: { max_len: 2, default: 'abc' } }, /^rules\.default/],
  [{}, { required: true, rules: { default: '' } }, /^rules\.default/],
  [{}, { rules: { formula: '1' } }, /^rules\.formula/],
  [{ type: 'select', rules: { options: ['a'] } }, { rules: null }, /^rules\.options is required/],
  [{ type: 'select', rules: { options: ['a'] } }, { rules: { options: [] } }, /^rules\.options/],
  [{ type: 'select', rules: { options: ['a'] } }, { rules: { options: ['b'], default: 'a' } }, /^rules\.default/],
  [{ type: 'ref', rules: { ref_type: 'deals' } }, { rules: {} }, /^rules\.ref_type is required/],
  [{ type: 'ref', rules: { ref_type: 'deals' } }, { rules: { ref_type: 'nope' } }, /^rules\.ref_type/],
  [{ type: 'currency' }, { rules: { unit: 'EURO' } }, /^rules\.unit/],
]
for (const [field, body, message] of bad) {
  test(`change field: refused: ${JSON.stringify(body)} on ${JSON.stringify(field)}`, async (t) => {
    const { change, read } = await withField(field)
    const before = await read()
    const answer = await change(body, { prefer: 'respond-async' })
    t.is(answer.status, 400)
    t.is(answer.body.error.code, 'VALIDATION_ERROR')
    t.regex(answer.body.error.message, message)
    t.deepEqual(await read(), before)
  })
}

interface Tightened {
  readonly field: object
  readonly values: readonly unknown[]
  readonly change: object
  /** undefined when the change is allowed. */
  readonly refused?: string
}

const options = (...names: string[]) => ({ options: names })
const tightened: Readonly<Record<string, Tightened>> = {
  'required counts records without a value and with a blank one': {
    field: {},
    values: ['a', null, '', 'b', null],
    change: { required: true },
    refused: 'required: 3 records have no value',
  },
  'an empty list is blank': {
    field: { type: 'multiselect', rules: options('a') },
    values: [[], ['a']],
    change: { required: true },
    refused: 'required: 1 record has no value',
  },
  'required where all have one': { field: {}, values: ['a', 'b'], change: { required: true } },
  max_len: {
    field: {},
    values: ['abc', '\u{1f600}\u{1f600}\u{1f600}', 'abcd', null],
    change: { rules: { max_len: 3 } },
    refused: 'rules.max_len: 1 record breaks it',
  },
  'min_len counts empty text, not absent text': {
    field: {},
    values: ['', null, 'ab'],
    change: { rules: { min_len: 1 } },
    refused: 'rules.min_len: 1 record breaks it',
  },
  'min_len and max_len of long text': {
    field: { type: 'text' },
    values: ['a', 'x'.repeat(1000)],
    change: { rules: { min_len: 2, max_len: 999 } },
    refused: 'rules.min_len: 1 record breaks it; rules.max_len: 1 record breaks it',
  },
  pattern: {
    field: {},
    values: ['a1', 'b', 'c', null],
    change: { rules: { pattern: '\\d$' } },
    refused: 'rules.pattern: 2 records break it',
  },
  'min and max': {
    field: { type: 'number' },
    values: [1, 2, 3, '2.000001', null],
    change: { rules: { min: 2, max: 2 } },
    refused: 'rules.min: 1 record breaks it; rules.max: 2 records break it',
  },
  'min of a currency': {
    field: { type: 'currency' },
    values: [1, { amount: 9, code: 'EUR' }],
    change: { rules: { min: 2 } },
    refused: 'rules.min: 1 record breaks it',
  },
  'a unit that amounts do not have': {
    field: { type: 'currency' },
    values: [1, { amount: 9, code: 'EUR' }],
    change: { rules: { unit: 'EUR' } },
    refused: 'rules.unit: 1 record breaks it',
  },
  'a unit that all amounts have': { field: { type: 'currency' }, values: [1, 2, null], change: { rules: { unit: 'USD' } } },
  'an option that records hold': {
    field: { type: 'select', rules: options('a', 'b') },
    values: ['a', 'b', 'b'],
    change: { rules: options('a', 'c') },
    refused: 'rules.options: 2 records break it',
  },
  'an option that lists hold': {
    field: { type: 'multiselect', rules: options('a', 'b') },
    values: [['a'], ['a', 'b']],
    change: { rules: options('a') },
    refused: 'rules.options: 1 record breaks it',
  },
  'an option that nobody holds': {
    field: { type: 'select', rules: options('a', 'b') },
    values: ['a', null],
    change: { rules: options('a') },
  },
  'more options': { field: { type: 'select', rules: options('a') }, values: ['a'], change: { rules: options('b', 'a') } },
  'looser bounds': { field: { rules: { max_len: 3, pattern: 'a' } }, values: ['abc'], change: { rules: { max_len: 4 } } },
  'a new default changes no record': { field: {}, values: [null], change: { rules: { default: 'x' } } },
}
for (const [name, { field, values, change: body, refused }] of Object.entries(tightened)) {
  test(`change field: stored values: ${name}`, async (t) => {
    const { change, create, read } = await withField(field)
    for (const value of values) t.is((await create({ name: value })).status, 201)
    const before = await read()
    const answer = await change(body)
    if (refused === undefined) {
      t.is(answer.status, 200, answer.text)
      t.deepEqual(await read(), answer.data)
    } else {
      t.is(answer.status, 400)
      t.deepEqual(answer.body.error, { code: 'VALIDATION_ERROR', message: refused, request_id: answer.headers.get('x-request-id') })
      t.deepEqual(await read(), before)
    }
  })
}

test('change field: records that break the old rules do not prevent a change that requires nothing new', async (t) => {
  const { create, add, org } = await withField({})
  await create({ name: 'abc' })
  const { data: late } = await add({ key: 'late', required: true })
  const answer = await org.owner.patch(`${org.path}/fields/${late.id}`, { ...late, label: 'Late' })
  t.deepEqual(answer.data, { ...late, label: 'Late' })
})

test('change field: new rules apply to the next write of every caller', async (t) => {
  const { change, create, records, org } = await withField({})
  const { data } = await create({ name: 'abc' })
  t.is((await change({ required: true, rules: { max_len: 3 } })).status, 200)
  t.regex((await create({ name: 'abcd' })).body.error.message, /values\.name/)
  t.regex((await create({})).body.error.message, /values\.name is required/)
  t.is((await org.owner.put(`${records}/${data.id}/values`, { values: { name: null } })).status, 400)
})

test('change field: built-in and unknown fields answer 404, a type without the right 403, and a key of another workspace 404', async (t) => {
  const { org, w, path } = await withField({})
  const [builtin] = (await org.owner.get(`${org.path}/fields?entity_type=invoices`)).data
  for (const id of [builtin.id, missing, 'x']) t.is((await org.owner.patch(`${org.path}/fields/${id}`, { label: 'L' })).status, 404)
  const { client } = await createMember(w, org, [
    { effect: 'allow', actions: ['fields:*', 'fields:create'].slice(1), resources: ['invoices'] },
  ])
  t.is((await client.patch(path, { label: 'L' })).status, 403)
  t.is((await w.org.owner.patch(path, { label: 'L' })).status, 404)
})

test('change field: respond-async returns a job, whose result is the field or the refusal', async (t) => {
  const { change, create, org } = await withField({})
  await create({ name: 'abc' })
  const job = async (body: object) => {
    const answer = await change(body, { prefer: 'respond-async' })
    t.is(answer.status, 202)
    return eventually(async () => {
      const { data } = await org.owner.get(`${org.path}/jobs/${answer.data.job_id}`)
      return data.finished_at !== null && data
    })
  }
  t.like(await job({ rules: { max_len: 3 } }), {
    kind: 'field.change',
    status: 'done',
    progress: { done: 1, total: 1 },
    result: { rules: { max_len: 3 } },
  })
  t.like(await job({ rules: { max_len: 2 } }), { status: 'failed', error: { message: 'rules.max_len: 1 record breaks it' } })
})
