import test from 'ava'
import { fieldTypes } from '#shared/platform/kernel/field-type.ts'
import { createDeals, missing, readColumns } from '#test/core/types/fields-support.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const start = shareWorld(test)

test('create field: a field is returned as it was created, in the order of creation', async (t) => {
  const w = await start()
  const { org, add, list } = await createDeals(w)
  const sent = {
    key: 'size',
    label: 'Größe 😀',
    type: 'number',
    required: true,
    unique: true,
    immutable: true,
    rules: { min: 0.5, max: 12345678.125, default: 1 },
    description: 'How big it is',
  }
  const made = await add(sent)
  t.is(made.status, 201)
  const { id, created_at, ...rest } = made.data
  t.regex(id, /^[0-9a-f-]{36}$/)
  t.false(Number.isNaN(Date.parse(created_at)))
  t.deepEqual(rest, { ...sent, entity_type: 'deals', autogen: '', system: false })
  const second = await add({ key: 'ab', required: null, rules: null, description: null })
  t.like(second.data, { required: false, unique: false, immutable: false, rules: {}, description: '', autogen: '' })
  t.deepEqual(await list(), [made.data, second.data])
  t.is((await org.owner.post(`${org.path}/records/deals`, { values: { size: 0.4 } })).status, 400)
})

test('create field: every type of field stores its default, and the table has a column for it', async (t) => {
  const w = await start()
  const { org, add } = await createDeals(w)
  const defaults: Readonly<Record<string, unknown>> = {
    string: 's',
    text: 't',
    number: 1.5,
    bool: true,
    date: '2026-02-28',
    datetime: '2026-02-28T12:00:00.000000Z',
    currency: { amount: 10, code: 'EUR' },
    select: 'a',
    multiselect: ['a', 'b'],
    email: 'a@example.com',
    url: 'https://example.com/',
    file: 'a/b.txt',
    ref: missing,
    refs: [missing],
  }
  t.deepEqual(Object.keys(defaults), [...fieldTypes])
  const needed = (type: string) => (type.endsWith('select') ? { options: ['a', 'b'] } : type.startsWith('ref') ? { ref_type: 'deals' } : {})
  for (const type of fieldTypes) {
    const rules = { ...needed(type), default: defaults[type] }
    const made = await add({ key: `a_${type}`, type, rules })
    t.is(made.status, 201, type)
    t.deepEqual(made.data.rules, rules)
  }
  const { data } = await org.owner.post(`${org.path}/records/deals`)
  for (const type of fieldTypes) t.deepEqual(data.values[`a_${type}`], defaults[type], type)
})

const key = 'key must be 2 to 64 lowercase letters, digits and underscores, starting with a letter'
const refused: readonly [object, RegExp | string][] = [
  [{ entity_type: undefined }, 'entity_type is required'],
  [{ entity_type: 'nothing' }, 'entity_type must be the key of a record type, got "nothing"; POST …/types makes one'],
  [{ entity_type: 'constructor' }, 'entity_type must be the key of a record type, got "constructor"; POST …/types makes one'],
  [{ key: undefined }, 'key is required'],
  [{ key: 'a' }, key],
  [{ key: 'a'.repeat(65) }, key],
  [{ key: 'Ab' }, key],
  [{ key: 'a-b' }, key],
  [{ key: '9a' }, key],
  [{ key: '__proto__' }, key],
  ...['id', 'object_type', 'created_by', 'created_at', 'updated_at', 'owner', 'values'].map(
    (reserved) => [{ key: reserved }, `key must not be ${reserved}, which every record has`] as const satisfies [object, string],
  ),
  [{ label: undefined }, 'label is required'],
  [{ label: '' }, 'label must have at least 1 characters'],
  [{ label: 'l'.repeat(101) }, 'label must have at most 100 characters'],
  [{ type: undefined }, 'type is required'],
  [{ type: 'json' }, /^type must be one of string, text, number/],
  [{ required: 'yes' }, /^required must be/],
  [{ description: '😀'.repeat(256) }, 'description must have at most 255 characters'],
  [{ rules: [] }, /^rules must be an object/],
  [{ rules: { color: 1 } }, /^rules\.color is no rule/],
  [{ rules: { min: 1 } }, 'rules.min is no rule of a string field; did you mean min_len?'],
  [{ rules: { formula: '1' } }, /^rules\.formula/],
  [{ rules: { pattern: '(?=a)' } }, /^rules\.pattern/],
  [{ rules: { min_len: 3, max_len: 2 } }, /^rules\.min_len/],
  [{ rules: { max_len: 2, default: 'abc' } }, /^rules\.default/],
  [{ type: 'number', rules: { default: 'x' } }, /^rules\.default/],
  [{ type: 'select' }, 'rules.options is required for a select field'],
  [{ type: 'multiselect', rules: { options: [] } }, /^rules\.options/],
  [{ type: 'select', rules: { options: ['a'], default: 'b' } }, /^rules\.default/],
  [{ type: 'ref' }, 'rules.ref_type is required for a ref field'],
  [
    { type: 'refs', rules: { ref_type: 'nothing' } },
    'rules.ref_type must be the key of a record type, got "nothing"; POST …/types makes one',
  ],
  [{ type: 'currency', rules: { unit: 'XYZ' } }, /^rules\.unit/],
  [{ type: 'multiselect', unique: true, rules: { options: ['a'] } }, 'unique is not possible for a multiselect field'],
  [{ type: 'refs', unique: true, rules: { ref_type: 'deals' } }, 'unique is not possible for a refs field'],
]

test('create field: a field that breaks a rule is refused with the rule and creates nothing', async (t) => {
  const w = await start()
  const { add, list, org } = await createDeals(w)
  for (const [change, message] of refused) {
    const { status, body } = await add({ key: 'abc', ...change })
    t.is(status, 400, JSON.stringify(change))
    t.is(body.error.code, 'VALIDATION_ERROR')
    if (typeof message === 'string') t.is(body.error.message, message)
    else t.regex(body.error.message, message)
  }
  t.deepEqual(await list(), [])
  t.is((await readColumns(w, org, 'deals')).length, 5)
})

test('create field: the longest values are accepted, and keys with the same beginning stay separate', async (t) => {
  const w = await start()
  const { add, list, org } = await createDeals(w)
  const stem = 'k'.repeat(63)
  for (const end of ['a', 'b']) {
    const made = await add({ key: stem + end, type: 'currency', label: '😀'.repeat(100), description: '😀'.repeat(255) })
    t.is(made.status, 201)
  }
  t.is((await list()).length, 2)
  const values = { [`${stem}a`]: { amount: 1, code: 'EUR' }, [`${stem}b`]: { amount: 2, code: 'USD' } }
  t.deepEqual((await org.owner.post(`${org.path}/records/deals`, { values })).data.values, values)
})

test('create field: a key may be any word of PostgreSQL or JavaScript', async (t) => {
  const w = await start()
  const { add, list, org, records } = await createDeals(w)
  const keys = ['constructor', 'prototype', 'has_own_property', 'select', 'xmin', 'ctid', 'tableoid', 'ref_type', 'length', 'then']
  for (const key of keys) t.is((await add({ key, type: 'currency', unique: true })).status, 201, key)
  t.deepEqual(
    (await list()).map(({ key }: { key: string }) => key),
    keys,
  )
  const values = Object.fromEntries(keys.map((key, index) => [key, { amount: index, code: 'EUR' }]))
  const made = await org.owner.post(records, { values })
  t.deepEqual((await org.owner.get(`${records}/${made.data.id}`)).data.values, values)
})

test('create field: a required field may be added to a type that has records', async (t) => {
  const w = await start()
  const { add, org, records } = await createDeals(w)
  const { data } = await org.owner.post(records)
  t.is((await add({ key: 'name', required: true })).status, 201)
  t.is((await org.owner.get(`${records}/${data.id}`)).status, 200)
  t.is((await org.owner.post(records)).status, 400)
  t.is((await org.owner.post(records, { values: { name: 'A' } })).status, 201)
})

test('create field: a unique field of any type separates its values of any length', async (t) => {
  const w = await start()
  const { add, org, records } = await createDeals(w)
  const long = `https://example.com/${'a'.repeat(2_000)}`
  const values: readonly [string, unknown, unknown][] = [
    ['string', '😀'.repeat(500), 'b'],
    ['text', 'long'.repeat(20_000), 'b'],
    ['number', 1, '2'],
    ['bool', true, false],
    ['date', '2026-01-01', '2026-01-02'],
    ['datetime', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00.001Z'],
    ['currency', { amount: 1, code: 'EUR' }, { amount: 1, code: 'USD' }],
    ['email', 'a@example.com', 'b@example.com'],
    ['url', long, `${long}b`],
    ['file', 'a', 'b'],
    ['ref', missing, missing.replace(/0$/, '1')],
  ]
  for (const [type, one, other] of values) {
    const field = await add({ key: `a_${type}`, type, unique: true, ...(type === 'ref' ? { rules: { ref_type: 'deals' } } : {}) })
    t.is(field.status, 201, type)
    const create = (value: unknown) => org.owner.post(records, { values: { [`a_${type}`]: value } })
    t.is((await create(one)).status, 201, type)
    const clash = await create(one)
    t.is(clash.status, 409, type)
    t.is(clash.body.error.code, 'DUPLICATE_VALUE')
    t.is((await create(other)).status, 201, type)
    t.is((await create(null)).status, 201, type)
  }
})
