import test from 'ava'
import { byHand, chain, createFlow, graph } from '#test/features/flows/support.ts'
import { createLine } from '#test/features/queues/support.ts'
import { createMember, type Org } from '#test/support/factories.ts'
import { once } from '#test/support/once.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

let w: World
let org: Org
const shared = shareWorld(test)
const open = once(async () => {
  w = await shared()
  org = w.org
})

const flows = () => `${org.path}/flows`
const make = ['a', 'action.create_record', { object_type: 'locations', values: { name: 'x' } }] as const
const condition = ['c', 'logic.condition'] as const
const loop = ['l', 'logic.for_each', { list: '[1]' }] as const
const another = (id: string) => [id, 'logic.reduce', { list: '[1]', op: 'count' }] as const

/** Definitions that are refused even for a draft, and the messages of the refusals. */
const refused: readonly (readonly [name: string, body: object, says: RegExp])[] = [
  ['an unknown block', graph([byHand, ['x', 'action.explode']]), /x: there is no block of the type action.explode/],
  ['no trigger among blocks', graph([make]), /must have a trigger/],
  ['two triggers', graph([byHand, ['u', 'trigger.schedule', { cron: '* * * * *' }]]), /u is a second trigger beside t/],
  ['a loop', graph([byHand, another('a'), another('b')], 't > a', 'a > b', 'b > a'), /a leads back to itself/],
  ['a block that leads to itself', graph([byHand, another('a')], 't > a', 'a > a'), /a leads back to itself/],
  [
    'a bad handle',
    graph([byHand, condition, make], 't > c', 'c.maybe > a'),
    /edges\[1\].source_handle maybe is no output of c, which has true, false/,
  ],
  ['a connection from nowhere', graph([byHand, make], 'x > a'), /edges\[0\].source x is no block/],
  ['a connection to nowhere', graph([byHand], 't > x'), /edges\[0\].target x is no block/],
  ['a connection to the trigger', graph([byHand, make], 'a > t'), /edges\[0\].target t is the trigger/],
  ['an id twice', graph([byHand, make, make]), /nodes\[2\].id a is the id of another block/],
  ['an id with a dot', graph([['a.b', 'trigger.manual']]), /nodes\[0\].id must be 1 to 64 letters/],
  [
    'an unknown root',
    graph([byHand, ['a', 'action.create_record', { values: { name: '{{secret.key}}' } }]]),
    /a: \{\{secret.key\}\} must begin with one of/,
  ],
  [
    'a setting of the wrong type',
    graph([byHand, ['a', 'action.create_record', { object_type: 5 }]]),
    /a: config.object_type must be a string/,
  ],
  [
    'a value that is no text',
    graph([byHand, ['a', 'action.create_record', { values: { name: 5 } }]]),
    /a: config.values.name must be a string/,
  ],
  ['a filter that is a number', graph([byHand, ['f', 'action.find_records', { filter: 5 }]]), /config.filter must be .*JSON text/],
  ['clauses that are no list', graph([byHand, ['c', 'logic.condition', { clauses: 'all' }]]), /c: config.clauses must be an array/],
  [
    'a way from inside a loop to what comes after it',
    graph([byHand, loop, another('a'), another('b')], 't > l', 'l.loop > a', 'l.done > b', 'a > b'),
    /b follows both the loop and the done output of l/,
  ],
  [
    'a way into a loop from outside',
    graph([byHand, loop, another('a'), another('b')], 't > l', 't > b', 'l.loop > a', 'b > a'),
    /a is inside the loop l but follows b/,
  ],
  ['no name', { name: undefined }, /name is required/],
  ['a name without a letter', { name: ' ' }, /name must be a name/],
  [
    'too many blocks',
    graph([byHand, ...Array.from({ length: 200 }, (_, index) => another(`n${index}`))]),
    /nodes must have at most 200 items/,
  ],
  ['a definition that is too large', { context: { a: 'x'.repeat(256 * 1024) } }, /at most 256 KB/],
]
for (const [name, body, says] of refused) {
  test(`saving: refused: ${name}`, async (t) => {
    await open()
    const answer = await org.owner.post(flows(), { name: 'Draft', ...body })
    t.is(answer.status, 400, answer.text)
    t.regex(answer.body.error.message, says)
  })
}

test('saving: 200 blocks and a loop inside a loop are accepted', async (t) => {
  await open()
  await createFlow(t, org, graph([byHand, ...Array.from({ length: 199 }, (_, index) => another(`n${index}`))]))
  const inner = ['m', 'logic.for_each', { list: '{{item}}' }] as const
  await createFlow(t, org, graph([byHand, loop, inner, another('a'), another('b')], 't > l', 'l.loop > m', 'm.loop > a', 'm.done > b'))
})

/** Settings of a block that prevent a flow from being enabled, and the problem of each. */
const incomplete: readonly (readonly [block: readonly [string, string, object?], says: readonly string[]])[] = [
  [['a', 'action.create_record'], ['object_type is required']],
  [['a', 'action.create_record', { object_type: 'nope' }], ['object_type must be the key of a record type']],
  [['a', 'action.update_record', { object_type: 'locations' }], ['record_id is required']],
  [
    ['a', 'logic.condition', { match: 'some', clauses: [{ left: '1', op: 'like', right: '2' }] }],
    [
      'match must be all or any',
      'clauses[0].op must be one of eq, ne, gt, gte, lt, lte, contains, not_contains, in, is_empty, is_not_empty',
    ],
  ],
  [['a', 'logic.condition', { clauses: [{ left: '1', op: 'eq' }] }], ['clauses[0].right is required']],
  [
    ['a', 'logic.reduce', { list: 'no list', op: 'product' }],
    ['list must be a reference to a list, or a JSON array', 'op must be one of sum, avg, min, max, count, join'],
  ],
  [['a', 'logic.for_each'], ['list is required']],
  [['a', 'logic.wait'], ['minutes or until is required']],
  [['a', 'logic.wait', { minutes: '43201' }], ['minutes must be a number from 0 to 43200']],
  [['a', 'logic.wait', { minutes: 1, until: '2030-01-01' }], ['minutes and until cannot both be set']],
  [['a', 'logic.wait', { minutes: 1, until: 'tomorrow' }], ['minutes and until cannot both be set']],
  [['a', 'action.run_function', { function_id: '01a1fbc8-8645-7571-bf7a-d5998224cc5c' }], ['function_id must be a function']],
  [
    ['a', 'action.http_request', { method: 'TRACE', url: 'ftp://example.com', headers: { Host: 'x' } }],
    [
      'method must be one of GET, POST, PUT, PATCH, DELETE',
      'url must be an http or https address',
      'headers.Host cannot be set: it says where a message goes or ends',
    ],
  ],
  [
    ['a', 'action.send_message', { connection_id: 'x' }],
    [
      'to is required, or record_type, record_id and to_field that name where it stands',
      'template_id is required, or a body_text or body_html',
      'connection_id must be the id of a connection',
    ],
  ],
  [
    ['a', 'action.create_event', { title: 'x' }],
    ['calendar_key is required', 'start is required'],
  ],
  [
    ['a', 'action.enqueue_item'],
    ['queue_key is required', 'key is required'],
  ],
  [['a', 'action.update_record', { object_type: 'locations', record_id: 'nope', values: {} }], ['record_id must be an id, got nope']],
  [
    ['a', 'action.http_request', { url: 'https://example.com', headers: { 'Bad Header': 'x', X: 'a\nb' } }],
    ['headers must have names of letters, digits and hyphens, got Bad Header', 'headers.X must be one line of Latin characters'],
  ],
  [
    [
      'a',
      'action.create_event',
      {
        calendar_key: 'team',
        title: 'x',
        start: 'tomorrow',
        end: '2027-13-01',
        all_day: 'maybe',
        duration_minutes: 'x',
        record_id: 'x',
        attendees: [{}, { user_id: ' ' }, { user_id: 'x' }, { email: 'x' }, { email: 'a@example.com' }],
      },
    ],
    [
      'start must be an RFC 3339 instant, such as 2026-03-01T09:00:00Z',
      'end must be an RFC 3339 instant, such as 2026-03-01T09:00:00Z',
      'all_day must be true or false, got maybe',
      'duration_minutes must be a number, got x',
      'record_id must be an id, got x',
      'attendees[0] must have user_id or email',
      'attendees[1].user_id must not be blank',
      'attendees[2].user_id must be an id, got x',
      'attendees[3].email must be a valid email',
    ],
  ],
  [['a', 'action.post_entry', { lines: [] }], ['lines must have at least 2 items']],
  [
    [
      'a',
      'action.post_entry',
      {
        date: 'x',
        currency: 'euro',
        lines: [{ account_id: ' ', debit: '1' }, {}, { account_id: 'x', debit: 'y', credit: '{{trigger.input}}' }],
      },
    ],
    [
      'date must be a day as YYYY-MM-DD, got x',
      'currency must be an ISO 4217 code such as EUR, got euro',
      'lines[0].account_id must not be blank',
      'lines[1].account_id is required',
      'lines[1] must have a debit or a credit above zero',
      'lines[2].account_id must be an id, got x',
      'lines[2].debit must be a decimal number such as "12.50", with at most 13 digits before the point and 6 behind it',
    ],
  ],
  [
    ['a', 'action.create_payment_link', { connection_id: '{{trigger.input}}', amount: 'abc', expires_at: 'x', redirect_url: 'y' }],
    [
      'amount must be a number with up to 14 digits before and 6 after the decimal point, got "abc"',
      'redirect_url must be an absolute http or https address',
      'expires_at must be an instant such as 2027-01-31T12:00:00Z',
    ],
  ],
  [
    ['a', 'action.notify', { title: 'x', user_id: 'x', role_id: '01a1fbc8-8645-7571-bf7a-d5998224cc5c', object_type: 'locations' }],
    ['user_id must be an id, got x', 'role_id must be the id of a role', 'record_id is required beside object_type'],
  ],
  [
    ['a', 'action.create_payment_link', { connection_id: 'x' }],
    ['amount is required, or invoice_id', 'connection_id must be the id of a connection'],
  ],
  [['a', 'action.notify'], ['title is required']],
]
for (const [block, says] of incomplete) {
  test(`saving: a draft with ${block[1]} ${JSON.stringify(block[2] ?? {})} names what is missing`, async (t) => {
    await open()
    const flow = await createFlow(t, org, { enabled: true, ...chain(byHand, block) })
    t.false(flow.enabled)
    t.deepEqual(
      flow.problems,
      says.map((message) => ({ node_id: 'a', message })),
    )
    const refusal = await org.owner.put(`${flows()}/${flow.id}`, { name: 'Other', enabled: true })
    t.is(refusal.status, 400)
    t.is(refusal.body.error.message, `enabled cannot be true: a: ${says[0]}`)
    t.is((await org.owner.get(`${flows()}/${flow.id}`)).data.name, 'Test')
  })
}

const triggers: readonly (readonly [type: string, config: object, problems: number, derived: object])[] = [
  ['trigger.manual', {}, 0, { trigger_kind: 'manual', trigger_type: null, trigger_event: null, cron_expr: null }],
  [
    'trigger.record_event',
    { object_type: 'invoices', event: 'deleted' },
    0,
    { trigger_kind: 'record_event', trigger_type: 'invoices', trigger_event: 'deleted' },
  ],
  ['trigger.record_event', { object_type: 'invoices', event: 'archived' }, 1, { trigger_event: 'archived' }],
  ['trigger.schedule', { cron: '0 9 * * mon-fri' }, 0, { trigger_kind: 'schedule', cron_expr: '0 9 * * mon-fri' }],
  ['trigger.schedule', { cron: '@daily' }, 1, { trigger_kind: 'schedule', next_run_at: null }],
  [
    'trigger.calendar_event',
    { event: 'starting', minutes_before: 15 },
    0,
    { trigger_kind: 'calendar', trigger_type: null, trigger_event: 'starting' },
  ],
  ['trigger.calendar_event', { calendar_key: 'team', event: 'moved', minutes_before: -1 }, 2, { trigger_type: 'team' }],
  ['trigger.event', { types: ['forms.*'] }, 0, { trigger_kind: 'event', trigger_type: null, trigger_event: null }],
]
for (const [type, config, problems, derived] of triggers) {
  test(`saving: the data derived from ${type} ${JSON.stringify(config)}`, async (t) => {
    await open()
    const flow = await createFlow(t, org, { enabled: true, ...chain(['t', type, config], make) })
    t.is(flow.problems.length, problems)
    t.is(flow.enabled, problems === 0)
    t.like(flow, derived)
  })
}

test('saving: an empty draft is saved, and a flow that is sent back unchanged stays the same', async (t) => {
  await open()
  const draft = await createFlow(t, org, {})
  t.like(draft, {
    nodes: [],
    edges: [],
    context: {},
    enabled: false,
    problems: [{ node_id: null, message: 'the flow has no blocks' }],
    trigger_kind: null,
  })
  const flow = await createFlow(t, org, { description: 'Why', context: { constructor: 'x' }, ...chain(byHand, make) })
  const again = await org.owner.put(`${flows()}/${flow.id}`, flow)
  t.deepEqual({ ...again.data, updated_at: '' }, { ...flow, updated_at: '' })
  const { nodes: _, edges: __, ...listed } = again.data
  t.deepEqual(
    (await org.owner.get(flows())).data.find(({ id }: typeof flow) => id === flow.id),
    listed,
    'lists leave out nodes and edges',
  )
})

test('saving: a change of the name, the switch or positions keeps the editor; any other change makes a version and a new editor', async (t) => {
  await open()
  const flow = await createFlow(t, org, chain(byHand, make))
  const other = await createMember(w, org, [{ effect: 'allow', actions: ['*'] }])
  const url = `${flows()}/${flow.id}`
  t.is(flow.editor_id, org.ownerId)
  const moved = flow.nodes.map((node: typeof flow) => ({ ...node, position: { x: node.position.x + 1, y: 7 } }))
  const changed = await other.client.put(url, {
    name: 'New',
    description: 'Why',
    enabled: true,
    nodes: moved,
    edges: flow.edges,
    context: {},
  })
  t.like(changed.data, { name: 'New', enabled: true, editor_id: org.ownerId, version: 1 })
  t.deepEqual(changed.data.nodes[1].position, { x: 101, y: 7 })
  const edited = await other.client.put(url, { nodes: flow.nodes, edges: flow.edges, context: { a: 'b' } })
  t.like(edited.data, { editor_id: other.id, version: 2, name: 'New', context: { a: 'b' } })
  const { data: versions } = await org.owner.get(`${url}/versions`)
  t.deepEqual(
    versions.map(({ version, editor_id, context }: typeof flow) => ({ version, editor_id, context })),
    [
      { version: 2, editor_id: other.id, context: { a: 'b' } },
      { version: 1, editor_id: org.ownerId, context: {} },
    ],
  )
  const restored = await org.owner.post(`${url}/versions/1/restore`)
  t.like(restored.data, { version: 3, editor_id: org.ownerId, context: {}, enabled: true })
  for (const version of ['9', '0', 'x', '-1']) t.is((await org.owner.post(`${url}/versions/${version}/restore`)).status, 404)
})

test('saving: a flow whose type was deleted keeps its switch, and other changes are saved', async (t) => {
  await open()
  const key = { key: 'passing', label: 'Passing' }
  await org.owner.post(`${org.path}/types`, key)
  const flow = await createFlow(t, org, { enabled: true, ...chain(byHand, ['a', 'action.create_record', { object_type: key.key }]) })
  t.true(flow.enabled)
  await org.owner.delete(`${org.path}/types/${key.key}`)
  const renamed = await org.owner.put(`${flows()}/${flow.id}`, { name: 'Renamed', description: 'Why' })
  t.like(renamed.data, { name: 'Renamed', description: 'Why', enabled: true })
  t.is(renamed.data.problems.length, 1)
  for (const body of [{ enabled: true }, { nodes: flow.nodes, edges: flow.edges }]) {
    t.regex((await org.owner.put(`${flows()}/${flow.id}`, body)).body.error.message, /^enabled cannot be true: a: object_type/)
  }
  t.false((await org.owner.put(`${flows()}/${flow.id}`, { enabled: false })).data.enabled)
})

test('saving: the catalogue describes every kind of block with its settings', async (t) => {
  await open()
  const { data } = await org.owner.get(`${flows()}/blocks`)
  t.deepEqual(
    data.filter(({ is_trigger }: typeof data) => is_trigger).map(({ type }: typeof data) => type),
    ['trigger.record_event', 'trigger.schedule', 'trigger.manual', 'trigger.calendar_event', 'trigger.event'],
  )
  t.like(
    data.find(({ type }: typeof data) => type === 'logic.for_each'),
    { handles: ['loop', 'done'], required: ['list'], app: null },
  )
  t.like(
    data.find(({ type }: typeof data) => type === 'action.post_entry'),
    { handles: ['out'], app: 'accounting' },
  )
  for (const kind of data) t.is(kind.settings.type, 'object', kind.type)
})

test('saving: a change of the last digits of a number is a new definition', async (t) => {
  await open()
  const exact = (digits: string) => {
    const body = { name: 'Exact', ...graph([byHand, ['r', 'logic.reduce', { list: [0], op: 'sum' }]]) }
    return JSON.stringify(body).replace('[0]', `[${digits}]`)
  }
  const headers = { 'content-type': 'application/json' }
  const made = await org.owner.post(flows(), Buffer.from(exact('12345678901234.123456')), headers)
  t.is(made.status, 201, made.text)
  const change = (digits: string) => org.owner.put(`${flows()}/${made.data.id}`, Buffer.from(exact(digits)), headers)
  const same = await change('12345678901234.123456')
  t.is(same.data.version, 1, same.text)
  const changed = await change('12345678901234.123457')
  t.is(changed.data.version, 2)
  t.regex(changed.text, /"list":\[12345678901234\.123457\]/)
})

test('saving: an item for a work queue with a wrong priority, stage, record or assignee is a problem', async (t) => {
  await open()
  const { key } = await createLine(t, org, {}, 'saving')
  const config = { queue_key: key, key: 'a', priority: 'abc', stage: 'nope', record_id: 'nope', assignee_id: ' ' }
  const { problems } = await createFlow(t, org, chain(byHand, ['a', 'action.enqueue_item', config]))
  t.deepEqual(
    problems.map(({ message }: { message: string }) => message),
    [
      'stage must be the key of a stage of the queue',
      'assignee_id must not be blank',
      'priority must be a number, got abc',
      'record_id must be an id, got nope',
    ],
  )
  const sound = { ...config, priority: '5', stage: 'work', record_id: org.id, assignee_id: 'ann' }
  t.deepEqual((await createFlow(t, org, chain(byHand, ['a', 'action.enqueue_item', sound]))).problems, [])
})

test('saving: settings that hold a reference are not judged', async (t) => {
  await open()
  const at = '{{context.a}}'
  const line = { account_id: at, debit: at, credit: at }
  const blocks = [
    ['a', 'action.http_request', { method: at, url: at, headers: { X: `${at}\n` } }],
    ['b', 'logic.wait', { minutes: at, until: at }],
    ['c', 'logic.filter', { list: at, match: at, clauses: [{ left: at, op: at }] }],
    ['d', 'logic.reduce', { list: at, op: at }],
    ['e', 'action.enqueue_item', { queue_key: at, key: at, priority: at, stage: at, record_id: at, assignee_id: at }],
    [
      'f',
      'action.create_event',
      { calendar_key: at, title: at, start: at, end: at, all_day: at, duration_minutes: at, attendees: [{ user_id: at }] },
    ],
    ['g', 'action.post_entry', { date: at, currency: at, lines: [line, line] }],
    ['h', 'action.create_payment_link', { connection_id: at, amount: at, currency: at, expires_at: at, redirect_url: at }],
    ['i', 'action.notify', { title: at, user_id: at, role_id: at, object_type: at, record_id: at }],
  ] as const
  t.deepEqual((await createFlow(t, org, chain(byHand, ...blocks))).problems, [])
})
