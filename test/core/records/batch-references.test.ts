import { randomUUID } from 'node:crypto'
import test from 'ava'
import { countAuditEntries, countStoredRecords } from '#test/core/records/rows.ts'
import { createMember, createOrg } from '#test/support/factories.ts'
import type { Answer } from '#test/support/send-request.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const shared = shareWorld(test)

/** Customers, and deals that name them. Returns what sends a batch of both. */
async function withCustomers(w: World) {
  const { owner, path } = w.org
  for (const key of ['customers', 'deals']) await owner.post(`${path}/types`, { key, label: key })
  const ofCustomers = { ref_type: 'customers' }
  for (const field of [
    { entity_type: 'customers', key: 'name', type: 'string', unique: true },
    { entity_type: 'customers', key: 'rank', type: 'number', rules: { max: 9 } },
    { entity_type: 'deals', key: 'customer', type: 'ref', rules: ofCustomers },
    { entity_type: 'deals', key: 'others', type: 'refs', rules: ofCustomers },
    { entity_type: 'deals', key: 'before', type: 'ref', rules: { ref_type: 'deals' } },
    { entity_type: 'deals', key: 'amount', type: 'number' },
    { entity_type: 'deals', key: 'total', type: 'currency' },
    { entity_type: 'deals', key: 'tags', type: 'multiselect', rules: { options: ['hot'] } },
  ]) {
    const made = await owner.post(`${path}/fields`, { label: field.key, ...field })
    if (made.status !== 201) throw new Error(made.text)
  }
  const send = (operations: readonly object[], atomic = false, client = owner) => client.post(`${path}/batch`, { operations, atomic })
  const count = async (type: string) => (await owner.get(`${path}/records/${type}?offset=0`)).data.total as number
  return { send, count, owner, path }
}

const customer = (values: object = {}) => ({ type: 'customers', op: 'create', values })
const deal = (values: object = {}) => ({ type: 'deals', op: 'create', values })
const statuses = ({ data }: Answer): number[] => data.results.map(({ status }: { status: number }) => status)
const messages = ({ data }: Answer): (string | undefined)[] =>
  data.results.map(({ error }: { error: { message: string } | null }) => error?.message)

test('batch references: records of several types are created at once, and name each other', async (t) => {
  const { send, owner, path } = await withCustomers(await shared())
  const outside = (await owner.post(`${path}/records/customers`, { values: { name: 'Out' } })).data.id
  for (const atomic of [true, false]) {
    const name = `Ada ${atomic}`
    const answer = await send(
      [
        customer({ name }),
        { type: 'customers', op: 'upsert', by: 'name', values: { name: 'Bob' } },
        deal({ customer: { $of: 0 }, others: [{ $of: 1 }, outside, { $of: 0 }, { $of: 1 }] }),
        { type: 'deals', op: 'create', values: { before: { $of: 2 }, customer: { $of: 1.0 } } },
        { type: 'customers', op: 'upsert', by: 'name', values: { name, rank: 2 } },
        deal({ customer: { $of: 4 } }),
        { type: 'customers', op: 'delete', id: outside },
      ],
      atomic,
    )
    t.is(answer.status, 200, answer.text)
    t.deepEqual(statuses(answer), [201, atomic ? 201 : 200, 201, 201, 200, 201, atomic ? 204 : 404])
    const [ada, bob, first, second, again, third] = answer.data.results.map(({ record }: { record: { id: string } }) => record)
    t.is(again.id, ada.id)
    t.deepEqual(first.values.others, [bob.id, outside, ada.id, bob.id])
    t.deepEqual(
      [first, second, third].map(({ values }) => values.customer),
      [ada.id, bob.id, ada.id],
    )
    t.is(second.values.before, first.id)
    const stored = await owner.get(`${path}/records/deals/${second.id}`)
    t.deepEqual(stored.data, second)
  }
})

test('batch references: an update and an upsert take references, also beside a formula, and the route of one type does', async (t) => {
  const { send, owner, path } = await withCustomers(await shared())
  const field = (await owner.post(`${path}/fields`, { entity_type: 'deals', key: 'twice', label: 'Twice', type: 'number' })).data
  t.is((await owner.put(`${path}/fields/${field.id}/formula`, { formula: 'amount * 2' })).status, 200)
  const code = { entity_type: 'deals', key: 'holder', label: 'Holder', type: 'ref', unique: true, rules: { ref_type: 'customers' } }
  t.is((await owner.post(`${path}/fields`, code)).status, 201)
  const { id } = (await owner.post(`${path}/records/deals`, { values: { amount: 4 } })).data
  const changed = await send(
    [
      customer({ name: 'New' }),
      { type: 'deals', op: 'update', id, values: { customer: { $of: 0 }, amount: 5 } },
      { type: 'deals', op: 'upsert', by: 'holder', values: { holder: { $of: 0 }, amount: 6 } },
      { type: 'deals', op: 'upsert', by: 'holder', values: { holder: { $of: 0 }, amount: 7 } },
    ],
    true,
  )
  t.deepEqual(statuses(changed), [201, 200, 201, 200], changed.text)
  const [made, updated, created, again] = changed.data.results.map(({ record }: { record: object }) => record)
  t.like(updated.values, { customer: made.id, amount: 5, twice: 10 })
  t.is(created.id, again.id)
  t.like(again.values, { holder: made.id, amount: 7, twice: 14 })
  const own = await owner.post(`${path}/records/deals/batch`, {
    operations: [
      { op: 'create', values: { amount: 1 } },
      { op: 'create', values: { before: { $of: 0 } } },
    ],
  })
  t.deepEqual(statuses(own), [201, 201])
  t.is(own.data.results[1].record.values.before, own.data.results[0].record.id)
})

test('batch references: a reference of a wrong form refuses the batch before anything is changed', async (t) => {
  const { send, count, owner, path } = await withCustomers(await shared())
  const id = randomUUID()
  const update = { type: 'customers', op: 'update', id, values: {} }
  const remove = { type: 'customers', op: 'delete', id }
  const must = 'must be the index of an earlier operation'
  const cases: readonly (readonly [operations: readonly object[], message: string])[] = [
    [[deal({ customer: { $of: 0 } })], 'operations[0].values.customer.$of must name an earlier operation, and operations[0] is the first'],
    [[customer(), deal({ customer: { $of: 1 } })], `operations[1].values.customer.$of ${must}, 0, got 1: that is the operation itself`],
    [
      [customer(), customer(), deal({ others: [id, { $of: 3 }] }), customer()],
      `operations[2].values.others[1].$of ${must}, 0 to 1, got 3: operations[3] comes later`,
    ],
    [[customer(), deal({ customer: { $of: 2 } })], `operations[1].values.customer.$of ${must}, 0, got 2: the batch has 2 operations`],
    [[customer(), deal({ customer: { $of: -1 } })], `operations[1].values.customer.$of ${must}, 0, got -1: the batch has 2 operations`],
    [[customer(), deal({ customer: { $of: 0.5 } })], `operations[1].values.customer.$of ${must}, 0, got 0.5: the batch has 2 operations`],
    [[customer(), deal({ customer: { $of: '0' } })], `operations[1].values.customer.$of ${must}, 0, got "0": the batch has 2 operations`],
    [[customer(), deal({ customer: { $of: null } })], `operations[1].values.customer.$of ${must}, 0, got null: the batch has 2 operations`],
    [[customer(), deal({ customer: { $of: 0, id } })], 'operations[1].values.customer must have no key beside $of, got id'],
    [
      [update, deal({ customer: { $of: 0 } })],
      'operations[1].values.customer.$of must name a create or an upsert, and operations[0] is an update: send the id of the record instead',
    ],
    [
      [customer(), remove, { type: 'deals', op: 'update', id, values: { others: [{ $of: 1 }] } }],
      'operations[2].values.others[0].$of must name a create or an upsert, and operations[1] is a delete: send the id of the record instead',
    ],
    [
      [customer(), { type: 'deals', op: 'upsert', by: 'amount', values: { amount: { $of: 7 } } }],
      `operations[1].values.amount.$of ${must}, 0, got 7: the batch has 2 operations`,
    ],
  ]
  for (const [operations, message] of cases) {
    for (const atomic of [false, true]) {
      const answer = await send(operations, atomic)
      t.is(answer.status, 400, answer.text)
      t.is(answer.body.error.message, message)
    }
  }
  const large = await owner.send(
    'POST',
    `${path}/batch`,
    `{"operations":[${JSON.stringify(customer())},{"type":"deals","op":"create","values":{"customer":{"$of":1e100000}}}]}`,
    {
      'content-type': 'application/json',
    },
  )
  t.is(large.status, 400)
  t.true(large.body.error.message.startsWith(`operations[1].values.customer.$of ${must}, 0, got 1e100000`), large.text)
  t.deepEqual([await count('customers'), await count('deals')], [0, 0])
})

test('batch references: a reference that its field cannot take fails its operation alone', async (t) => {
  const { send, count } = await withCustomers(await shared())
  const wrong = [
    [{ amount: { $of: 0 } }, /^values\.amount must be a number .*, got {"\$of":0}$/],
    [{ total: { $of: 0 } }, 'values.total.$of is no key of a currency value; did you mean code? There are amount, code'],
    [{ tags: [{ $of: 0 }] }, /^values\.tags\[0\] must be .*got {"\$of":0}$/],
    [{ others: { $of: 0 } }, 'values.others must be an array, got {"$of":0}'],
    [{ customer: [{ $of: 0 }] }, 'values.customer must be the UUID of a record, got [{"$of":0}]'],
    [{ nothing: { $of: 0 } }, 'values.nothing names no field of deals'],
    [{ before: { $of: 0 } }, 'values.before.$of must name an operation on deals, and operations[0] is on customers'],
    [{ others: [{ $of: 1 }] }, 'values.others[0].$of must name an operation on customers, and operations[1] is on deals'],
  ] as const
  const answer = await send([customer({ name: 'A' }), deal(), ...wrong.map(([values]) => deal(values)), deal({ customer: { $of: 0 } })])
  t.deepEqual(statuses(answer), [201, 201, ...wrong.map(() => 400), 201], answer.text)
  for (const [index, [, expected]] of wrong.entries()) {
    const message = messages(answer)[index + 2] ?? ''
    if (typeof expected === 'string') t.is(message, expected)
    else t.regex(message, expected)
    const atomic = await send([customer(), deal(), deal(wrong[index]?.[0])], true)
    t.is(atomic.status, 400)
    t.is(atomic.body.error.message, `operations[2]: ${message}`)
  }
  t.deepEqual([await count('customers'), await count('deals')], [1, 2])
})

test('batch references: an operation whose record failed fails too, and names both; those beside them are done', async (t) => {
  const { send, count } = await withCustomers(await shared())
  const answer = await send([
    customer({ name: 'A' }),
    customer({ name: 'A' }),
    deal({ others: [{ $of: 0 }, { $of: 1 }] }),
    deal({ before: { $of: 2 } }),
    deal({ customer: { $of: 0 } }),
    deal({ amount: { $of: 1 } }),
  ])
  t.deepEqual(statuses(answer), [201, 409, 400, 400, 201, 400], answer.text)
  t.is(
    messages(answer)[2],
    'values.others[1].$of names operations[1], which failed with DUPLICATE_VALUE: send both again once it can succeed',
  )
  t.is(
    messages(answer)[3],
    'values.before.$of names operations[2], which failed with VALIDATION_ERROR: send both again once it can succeed',
  )
  t.deepEqual([await count('customers'), await count('deals')], [1, 1])
})

test('batch references: a record is named across the commits of 100, also one that its change made unreadable', async (t) => {
  const w = await shared()
  const { send, owner } = await withCustomers(w)
  const policy = [
    { effect: 'allow', actions: ['records:create', 'records:update', 'records:read'] },
    { effect: 'deny', actions: ['records:read'], resources: ['customers'], condition: { 'resource.rank': { eq: 9 } } },
  ]
  const { client } = await createMember(w, w.org, policy)
  const operations = [
    customer({ name: 'A', rank: 1 }),
    { type: 'customers', op: 'upsert', by: 'name', values: { name: 'A', rank: 9 } },
    ...Array.from({ length: 248 }, (_, index) =>
      deal({ customer: { $of: index % 2 }, ...(index > 100 ? { before: { $of: index } } : {}) }),
    ),
  ]
  const answer = await send(operations, false, client)
  t.deepEqual([...new Set(statuses(answer))], [201, 200], answer.text)
  const { results } = answer.data
  t.is(results[1].record, null)
  t.deepEqual(
    [...new Set(results.slice(2).map(({ record }: { record: { values: { customer: string } } }) => record.values.customer))],
    [results[0].record.id],
  )
  t.is(results[249].record.values.before, results[247].record.id)
  t.true(results.every((result: object) => Object.keys(result).join() === 'status,record,error'))
  t.is((await owner.get(`${w.org.path}/records/deals?offset=0`)).data.total, 248)
})

test('batch references: each operation needs its permission on its type, and tells nothing of one that the caller may not write', async (t) => {
  const w = await shared()
  const { send, count } = await withCustomers(w)
  const { client: some } = await createMember(w, w.org, [{ effect: 'allow', actions: ['records:create'], resources: ['customers'] }])
  const { client: none } = await createMember(w, w.org, [])
  const operations = [
    customer({ name: 'A' }),
    deal({ before: { $of: 0 } }),
    { type: 'deals', op: 'update', id: randomUUID(), values: { before: { $of: 0 } } },
    { type: 'deals', op: 'delete', id: randomUUID() },
    { type: 'nothing', op: 'create' },
    { type: 'customers', op: 'update', id: randomUUID(), values: {} },
  ]
  const answer = await send(operations, false, some)
  t.deepEqual(statuses(answer), [201, 403, 403, 403, 404, 403])
  t.deepEqual(messages(answer).slice(1, 4), [
    'Needs records:create on deals',
    'Needs records:update on deals',
    'Needs records:delete on deals',
  ])
  t.regex(messages(answer)[4] ?? '', /^There is no record type nothing/)
  t.deepEqual(statuses(await send(operations, false, none)), [403, 403, 403, 403, 404, 403])
  const whole = await send([customer({ name: 'B' }), ...operations.slice(1)], true, some)
  t.is(whole.status, 403)
  t.is(whole.body.error.message, 'operations[1]: Needs records:create on deals')
  t.is(await count('customers'), 1)
})

test('batch references: the type that a field takes is not named to a caller that may not see the field', async (t) => {
  const w = await shared()
  const { send } = await withCustomers(w)
  const hidden = { fields: { deny: ['before', 'customer'] } }
  const { client } = await createMember(w, w.org, [
    { effect: 'allow', actions: ['records:create'] },
    { effect: 'allow', actions: ['records:read'], resources: ['deals'], ...hidden },
  ])
  const answer = await send([customer({ name: 'A' }), deal({ before: { $of: 0 } }), deal({ customer: { $of: 0 } })], false, client)
  t.deepEqual(statuses(answer), [201, 400, 201])
  t.is(messages(answer)[1], 'values.before must be the UUID of a record, got {"$of":0}')
})

test('batch references: a batch of several types has 1 to 500 operations, each with its type, and no other keys', async (t) => {
  const w = await shared()
  const { send, count, owner, path } = await withCustomers(w)
  const many = (length: number) => Array.from({ length }, (_, index) => (index % 2 ? deal({ customer: { $of: index - 1 } }) : customer()))
  t.is((await send(many(501), true)).body.error.message, 'operations must have at most 500 items')
  t.is((await send([], true)).body.error.message, 'operations must have at least 1 items')
  t.deepEqual(statuses(await send(many(500), true)).length, 500)
  t.deepEqual([await count('customers'), await count('deals')], [250, 250])
  const messageOf = async (operation: object) => (await send([operation])).body.error.message
  t.is(await messageOf({ op: 'create' }), 'operations[0].type is required')
  t.is(await messageOf({ type: 'deals', op: 'crate' }), 'operations[0].op must be one of create, update, delete, upsert')
  t.is(await messageOf({ type: 5, op: 'create' }), 'operations[0].type must be a string')
  t.regex(await messageOf({ typ: 'deals', op: 'create' }), /^operations\[0\]\.typ is no key of .*; did you mean type\?/)
  const typed = await owner.post(`${path}/records/deals/batch`, { operations: [{ type: 'deals', op: 'create' }] })
  t.regex(typed.body.error.message, /^operations\[0\]\.type is no key of /)
})

test('batch references: an atomic batch that fails in the last type changes none, and writes no audit', async (t) => {
  const w = await shared()
  const { send } = await withCustomers(w)
  const operations = [customer({ name: 'A' }), deal({ customer: { $of: 0 } }), customer({ rank: 10 })]
  const answer = await send(operations, true)
  t.is(answer.status, 400)
  t.regex(answer.body.error.message, /^operations\[2\]: values\.rank must be /)
  t.is(await countStoredRecords(w.db, w.org.id), 0)
  t.is(await countAuditEntries(w.db, w.org.id, {}), 0)
})

test('batch references: a key repeats a batch of several types without doing it twice; records of another workspace are not there', async (t) => {
  const w = await shared()
  const { owner, path, count } = await withCustomers(w)
  const other = await createOrg(w, 'Other')
  const foreign = (await other.owner.post(`${other.path}/records/locations`, { values: { name: 'x' } })).data.id
  const body = {
    operations: [
      customer({ name: 'A' }),
      { type: 'locations', op: 'update', id: foreign, values: { name: 'y' } },
      { type: 'locations', op: 'delete', id: foreign },
    ],
  }
  const [first, second] = [
    await owner.post(`${path}/batch`, body, { 'idempotency-key': 'k' }),
    await owner.post(`${path}/batch`, body, { 'idempotency-key': 'k' }),
  ]
  t.deepEqual(statuses(first), [201, 404, 404])
  t.deepEqual(second.data, first.data)
  t.is(await count('customers'), 1)
  t.is((await other.owner.get(`${other.path}/records/locations/${foreign}`)).data.values.name, 'x')
})
