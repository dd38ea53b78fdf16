import test from 'ava'
import { createOrg } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const start = shareWorld(test)

test('create type: a type is returned as it was created, after the built-in ones, and exists for the next request', async (t) => {
  const w = await start()
  const { org } = w
  const sent = {
    key: 'order_line',
    label: 'Order lines',
    icon: 'list',
    app: 'sales',
    ui: '{"lines": {"type": "order_line", "ref": "order"}, "x": 1.10}',
  }
  const made = await org.owner.post(`${org.path}/types`, sent)
  t.is(made.status, 201)
  const { id, created_at, ...rest } = made.data
  t.regex(id, /^[0-9a-f-]{36}$/)
  t.is(new Date(created_at).toISOString().slice(0, 4), String(new Date().getUTCFullYear()))
  const ui = { lines: { type: 'order_line', ref: 'order' }, x: 1.1 }
  t.deepEqual(rest, {
    key: 'order_line',
    label: 'Order lines',
    icon: 'list',
    app: 'sales',
    ui,
    description: '',
    record_count: 0,
    system: false,
  })
  t.true(made.text.includes('"x":1.10'))
  await org.owner.post(`${org.path}/types`, { key: 'aa', label: 'A' })
  const { data } = await org.owner.get(`${org.path}/types`)
  t.deepEqual(data[4], made.data)
  t.is(data[5].key, 'aa')
  t.is((await org.owner.post(`${org.path}/records/aa`)).status, 201)
})

const key = 'key must be 2 to 32 lowercase letters, digits and underscores, starting with a letter'
const refused: readonly [object, string][] = [
  [{ label: 'A' }, 'key is required'],
  [{ key: 'a', label: 'A' }, key],
  [{ key: 'a'.repeat(33), label: 'A' }, key],
  [{ key: 'Ab', label: 'A' }, key],
  [{ key: '1b', label: 'A' }, key],
  [{ key: 'a-b', label: 'A' }, key],
  [{ key: '_ab', label: 'A' }, key],
  [{ key: 'ab\n', label: 'A' }, key],
  [{ key: 'äb', label: 'A' }, key],
  [{ key: 12, label: 'A' }, 'key must be a string'],
  [{ key: 'ab' }, 'label is required'],
  [{ key: 'ab', label: null }, 'label must be a string'],
  [{ key: 'ab', label: '' }, 'label must have at least 1 characters'],
  [{ key: 'ab', label: '😀'.repeat(101) }, 'label must have at most 100 characters'],
  [{ key: 'ab', label: 'A', icon: 'i'.repeat(33) }, 'icon must have at most 32 characters'],
  [{ key: 'ab', label: 'A', app: 'Big Sales' }, 'app must be 1 to 32 lowercase letters, digits, hyphens and underscores'],
  [{ key: 'ab', label: 'A', ui: '{' }, 'ui must be a JSON string'],
  [{ key: 'ab', label: 'A', ui: '[]' }, 'ui must be an object, or a JSON string that holds one'],
  [{ key: 'ab', label: 'A', ui: 'null' }, 'ui must be an object, or a JSON string that holds one'],
  [{ key: 'ab', label: 'A', ui: '"x"' }, 'ui must be an object, or a JSON string that holds one'],
  [{ key: 'ab', label: 'A', ui: 5 }, 'ui must be an object, or a JSON string that holds one'],
  [{ key: 'ab', label: 'A', ui: [] }, 'ui must be an object, or a JSON string that holds one'],
  [{ key: 'ab', label: 'A', ui: JSON.stringify({ a: 'b'.repeat(2041) }) }, 'ui must have at most 2048 characters, got 2049'],
  [{ key: 'ab', label: 'A', ui: { a: 'b'.repeat(2041) } }, 'ui must have at most 2048 characters, got 2049'],
  [{ key: 'ab', label: 'A', ui: { a: '😀'.repeat(2041) } }, 'ui must have at most 2048 characters, got 2049'],
  [{ key: 'ab', label: 'A', ui: `{"a": ${'['.repeat(64)}${']'.repeat(64)}}` }, 'ui must be a JSON string'],
  [{ key: 'ab', label: 'A', ui: '{"a": "\\u0000"}' }, 'ui must be a JSON string'],
]
for (const [body, message] of refused) {
  test(`create type: a type is refused: ${JSON.stringify(body).slice(0, 60)} (${message})`, async (t) => {
    const w = await start()
    const { status, body: answer } = await w.org.owner.post(`${w.org.path}/types`, body)
    t.is(status, 400)
    t.is(answer.error.code, 'VALIDATION_ERROR')
    t.is(answer.error.message, message)
  })
}

test('create type: the longest values are accepted, and null counts as omitted', async (t) => {
  const w = await start()
  const { org } = w
  const longest = {
    key: `z${'9'.repeat(31)}`,
    label: '😀'.repeat(100),
    icon: 'i'.repeat(32),
    app: 'a'.repeat(32),
    ui: { a: 'b'.repeat(2040) },
  }
  const made = await org.owner.post(`${org.path}/types`, longest)
  t.is(made.status, 201)
  t.like(made.data, longest)
  const bare = await org.owner.post(`${org.path}/types`, { key: 'zz', label: 'Z', icon: null, app: null, ui: null })
  t.is(bare.status, 201)
  t.like(bare.data, { icon: '', app: '', ui: {} })
})

test('create type: a used key is taken, also by a built-in type', async (t) => {
  const w = await start()
  const { org } = w
  await org.owner.post(`${org.path}/types`, { key: 'deals', label: 'Deals' })
  for (const key of ['deals', 'invoices']) {
    const { status, body } = await org.owner.post(`${org.path}/types`, { key, label: 'Again' })
    t.is(status, 409)
    t.is(body.error.code, 'KEY_TAKEN')
  }
  const other = await createOrg(w)
  t.is((await other.owner.post(`${other.path}/types`, { key: 'deals', label: 'Deals' })).status, 201)
})

test('create type: a type may have any name of PostgreSQL or JavaScript', async (t) => {
  const w = await start()
  const { org } = w
  const keys = [
    'select',
    'user',
    'constructor',
    'prototype',
    'pg_class',
    'tables',
    'tables_pkey',
    'tables_pkey1',
    'accounts_pkey',
    'id_index',
    'xmin',
  ]
  for (const key of keys) {
    t.is((await org.owner.post(`${org.path}/types`, { key, label: key, ui: '{"__proto__": {"polluted": 1}}' })).status, 201, key)
    t.is((await org.owner.post(`${org.path}/records/${key}`)).status, 201, key)
  }
  const { text } = await org.owner.get(`${org.path}/types`)
  t.true(text.includes('{"__proto__":{"polluted":1}}'))
  t.is(({} as { polluted?: unknown }).polluted, undefined)
})
