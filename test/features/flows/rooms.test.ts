import test from 'ava'
import { at, makeCalendar, makeEvent } from '#test/features/calendar/support.ts'
import { byHand, chain, createFlow, ended, endedRuns, outputsOf, play, recordsOf, runsOf, start } from '#test/features/flows/support.ts'
import { connect } from '#test/features/payments/place.ts'
import { createLine } from '#test/features/queues/support.ts'
import { createMember, type Org } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const shared = shareWorld(test)

const location = (id: string, name: string) => [id, 'action.create_record', { object_type: 'locations', values: { name } }] as const
const off = (org: Org, app: string) => org.owner.patch(org.path, { apps: { [app]: false } })
const ok = async (t: Parameters<typeof play>[0], org: Org, block: readonly [string, string, object], input?: unknown) => {
  const run = await play(t, org, chain(byHand, block), input)
  t.is(run.status, 'ok', run.error)
  return outputsOf(run).a
}

test('rooms: a message is sent, with references inserted once and escaped in markup', async (t) => {
  const w = await shared()
  const { org } = w
  const connection = (
    await org.owner.post(`${org.path}/messages/connections`, { name: 'Mail', host: 'mail.example.com', from: 'shop@example.com' })
  ).data
  const output = await ok(
    t,
    org,
    [
      'a',
      'action.send_message',
      {
        connection_id: connection.id,
        to: '{{trigger.input.to}}',
        subject: 'For {{trigger.input.name}}',
        body_html: '<p>{{trigger.input.name}}</p>',
        body_text: '{{trigger.input.name}}',
      },
    ],
    { to: 'ann@example.com', name: '<b>{{x}}</b>' },
  )
  t.false(output.skipped)
  const { data } = await org.owner.get(`${org.path}/messages/${output.message_id}`)
  t.like(data, {
    to: 'ann@example.com',
    subject: 'For <b>{{x}}</b>',
    body_text: '<b>{{x}}</b>',
    body_html: '<p>&lt;b&gt;{{x}}&lt;/b&gt;</p>',
  })
})

test('rooms: a notice reaches one member, the members of a role, or all', async (t) => {
  const w = await shared()
  const { org } = w
  const member = await createMember(w, org)
  t.deepEqual(await ok(t, org, ['a', 'action.notify', { title: 'To {{trigger.input}}', user_id: member.id }], 'you'), { count: 1 })
  t.deepEqual(await ok(t, org, ['a', 'action.notify', { title: 'To all' }]), { count: 2 })
  const { notifications } = (await member.client.get(`${org.path}/notifications`)).data
  t.deepEqual(
    notifications.map(({ title }: { title: string }) => title),
    ['To all', 'To you'],
  )
  for (const name of ['user_id', 'role_id']) {
    const run = await play(t, org, chain(byHand, ['a', 'action.notify', { title: 'To nobody', [name]: '{{trigger.input.gone}}' }]), {})
    t.regex(run.error, new RegExp(`VALIDATION_ERROR at a: ${name} must not be empty`))
  }
  t.is((await member.client.get(`${org.path}/notifications`)).data.notifications.length, 2)
})

test('rooms: an entry is posted', async (t) => {
  const w = await shared()
  const { org } = w
  const account = async (code: string) => (await org.owner.post(`${org.path}/records/accounts`, { values: { code, name: code } })).data.id
  const lines = [
    { account_id: await account('1'), debit: '{{trigger.input}}' },
    { account_id: await account('2'), credit: '{{trigger.input}}', memo: 'half' },
  ]
  const block = ['a', 'action.post_entry', { memo: 'Sold', date: '2026-11-02', source_type: 'invoice', lines }] as const
  const { id } = await ok(t, org, block, 12.5)
  const { data } = await org.owner.get(`${org.path}/accounting/entries/${id}`)
  t.like(data, { memo: 'Sold', date: '2026-11-02', total: '12.50', source_type: 'invoice' })
  const unbalanced = await play(
    t,
    org,
    chain(byHand, ['a', 'action.post_entry', { lines: [lines[0], { account_id: lines[1]?.account_id, credit: '1' }] }]),
    2,
  )
  t.regex(unbalanced.error, /^VALIDATION_ERROR at a: /)
  await off(org, 'accounting')
  t.is((await play(t, org, chain(byHand, block), 1)).error, 'NOT_FOUND at a: The app accounting is switched off')
})

test('rooms: an item is added to a work queue, and a key that is already open is a duplicate', async (t) => {
  const w = await shared()
  const { org } = w
  const line = await createLine(t, org)
  const block = [
    'a',
    'action.enqueue_item',
    { queue_key: 'line', key: 'box {{trigger.input}}', priority: '3', batch: 'b', payload: { n: '{{trigger.input}}' } },
  ] as const
  const first = await ok(t, org, block, 7)
  t.false(first.duplicate)
  t.like(await line.item(first.id), { key: 'box 7', priority: 3, batch: 'b', payload: { n: 7 }, source: 'function' })
  t.deepEqual(await ok(t, org, block, 7), { id: first.id, duplicate: true })
  const weak = await createMember(w, org, [{ effect: 'allow', actions: ['flows:create', 'flows:run', 'queues:read'] }])
  const flow = await createFlow(t, org, chain(byHand, block), weak.client)
  t.is((await ended(org, flow.id, await start(t, org, flow.id, 8))).error, 'FORBIDDEN at a: Needs queues:enqueue on line')
})

test('rooms: a stage starts a flow for each item that enters it, as the flow’s editor', async (t) => {
  const w = await shared()
  const { org } = w
  const flow = await createFlow(
    t,
    org,
    chain(byHand, location('a', '{{trigger.input.item.key}} {{trigger.input.from_stage}}>{{trigger.input.to_stage}}')),
  )
  const stages = [
    { key: 'in', label: 'In', kind: 'start' },
    { key: 'out', label: 'Out', kind: 'terminal', on_enter: { flow_id: flow.id } },
  ]
  const line = await createLine(t, org, { stages })
  const [id = ''] = await line.add(['box'])
  const mover = await createMember(w, org, [{ effect: 'allow', actions: ['queues:transition', 'queues:read'] }])
  t.is((await line.move(id, 'out', {}, mover.client)).status, 200)
  await endedRuns(w, org, flow.id, 1)
  await w.drain()
  t.deepEqual(
    (await recordsOf(org, 'locations')).map(({ name }) => name),
    ['box in>out'],
  )
  const stranger = await createMember(w, org, [{ effect: 'allow', actions: ['queues:create', 'queues:read'] }])
  const refused = await stranger.client.post(`${org.path}/queues`, { key: 'other', name: 'Other', stages })
  t.is(refused.status, 403)
  const unknown = await org.owner.post(`${org.path}/queues`, {
    key: 'third',
    name: 'Third',
    stages: [stages[0], { ...stages[1], on_enter: { flow_id: org.id } }],
  })
  t.is(unknown.status, 400)
})

test('rooms: a payment link is created once at its provider, with the step’s Idempotency-Key', async (t) => {
  const w = await shared()
  const { org } = w
  const connectionId = await connect(org, 'sandbox')
  const output = await ok(
    t,
    org,
    ['a', 'action.create_payment_link', { connection_id: connectionId, amount: '{{trigger.input}}', description: 'Order' }],
    '12.50',
  )
  const { data } = await org.owner.get(`${org.path}/payments/links/${output.id}`)
  t.like(data, { amount: '12.50', description: 'Order', short_url: output.short_url })
})

test('rooms: an event is added to a calendar, and calendar events start flows whose editor may see them', async (t) => {
  const w = await shared()
  const { org } = w
  const place = { org }
  const calendar = await makeCalendar(t, place)
  const trigger = ['t', 'trigger.calendar_event', { calendar_key: calendar.key, event: 'created' }] as const
  const body = {
    enabled: true,
    ...chain(trigger, location('l', '{{trigger.calendar_event.title}} in {{trigger.calendar_event.calendar_key}}')),
  }
  const flow = await createFlow(t, org, body)
  const blind = await createMember(w, org, [{ effect: 'allow', actions: ['flows:create', 'records:create'] }])
  const unseen = await createFlow(t, org, body, blind.client)
  const settings = {
    calendar_key: calendar.key,
    title: 'Call {{trigger.input}}',
    start: '2027-01-01T10:00:00Z',
    duration_minutes: '45',
    attendees: [{ email: 'guest@example.com', name: 'Guest' }],
  }
  const { id } = await ok(t, org, ['a', 'action.create_event', settings], 'Ann')
  const event = (await org.owner.get(at(place, `/events/${id}`))).data
  t.like(event, { title: 'Call Ann', source: 'flow', end: '2027-01-01T10:45:00.000000Z', attendees: [{ email: 'guest@example.com' }] })
  await makeEvent(t, place, { calendar_id: calendar.id, title: 'By hand' })
  const runs = await endedRuns(w, org, flow.id, 2)
  t.like(runs[0], { status: 'ok', trigger: { kind: 'calendar', event: 'created', object_type: calendar.key, record_id: id } })
  await w.drain()
  t.deepEqual((await recordsOf(org, 'locations')).map(({ name }) => name).toSorted(), [
    `By hand in ${calendar.key}`,
    `Call Ann in ${calendar.key}`,
  ])
  t.deepEqual(await runsOf(org, unseen.id), [])
})

test('rooms: a flow finds the team calendar before anybody has opened it', async (t) => {
  const w = await shared()
  const { org } = w
  const settings = { calendar_key: 'team', title: 'x', start: '2027-01-01T10:00:00Z', end: '2027-01-01T11:00:00Z' }
  const { id } = await ok(t, org, ['a', 'action.create_event', settings])
  t.like((await org.owner.get(at({ org }, `/events/${id}`))).data, { title: 'x' })
})

/** Settings that a reference turns into invalid values, and the error of each. */
const unusable: readonly (readonly [type: string, config: object, says: string])[] = [
  ['action.enqueue_item', { queue_key: 'line', key: 'k', priority: '{{trigger.input}}' }, 'priority must be a number, got soon'],
  [
    'action.create_event',
    { calendar_key: 'team', title: 'x', start: '2027-01-01T10:00:00Z', duration_minutes: '{{trigger.input}}' },
    'duration_minutes must be a number, got soon',
  ],
  [
    'action.create_event',
    { calendar_key: 'team', title: 'x', start: '2027-01-01T10:00:00Z', all_day: '{{trigger.input}}' },
    'all_day must be true or false, got soon',
  ],
]
for (const [type, config, says] of unusable) {
  test(`rooms: ${type} says that ${says}`, async (t) => {
    const w = await shared()
    const { org } = w
    await createLine(t, org)
    t.is((await play(t, org, chain(byHand, ['a', type, config]), 'soon')).error, `VALIDATION_ERROR at a: ${says}`)
  })
}

test('rooms: a function starts a flow, as the API would', async (t) => {
  const w = await shared()
  const { org } = w
  const flow = await createFlow(t, org, chain(byHand, location('a', '{{trigger.input.n}}')))
  const source = `const handler = (input) => sdk.flows.run("${flow.id}", input)`
  const fn = (await org.owner.post(`${org.path}/functions`, { name: 'Start', source })).data
  const { data } = await org.owner.post(`${org.path}/functions/${fn.id}/invoke`, { input: { n: 5 } })
  t.true(data.result.queued)
  t.is((await ended(org, flow.id, data.result.run_id)).status, 'ok')
  const weak = await createMember(w, org, [{ effect: 'allow', actions: ['functions:invoke'] }])
  t.regex((await weak.client.post(`${org.path}/functions/${fn.id}/invoke`, {})).data.error, /flows:run/)
})
