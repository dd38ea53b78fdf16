import test from 'ava'
import { snapshotOf } from '#test/api/walk/snapshot.ts'
import { startReceiver } from '#test/features/flows/receiver.ts'
import { byHand, chain, createFlow, ended, endedRuns, graph, lockLocations, recordsOf, start } from '#test/features/flows/support.ts'
import { createMember, createOrg } from '#test/support/factories.ts'
import { once } from '#test/support/once.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { Place } from '#test/support/things.ts'
import type { World } from '#test/support/world.ts'

let w: World
let receiver: Awaited<ReturnType<typeof startReceiver>>
const shared = shareWorld(test, async () => {
  receiver = await startReceiver((_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"rate": 2}'))
  return { EGRESS_ALLOW: receiver.host }
})
test.after.always(() => receiver?.close())
const open = once(async () => {
  w = await shared()
})

const rehearse = async (org: World['org'], flowId: string, body: object = {}, client = org.owner) =>
  client.post(`${org.path}/flows/${flowId}/rehearse`, body)

test('rehearsal: a rehearsal reports what runs would create and change, and changes nothing', async (t) => {
  await open()
  const org = await createOrg(w)
  const trigger = ['t', 'trigger.record_event', { object_type: 'locations', event: 'created' }] as const
  const flow = await createFlow(t, org, {
    enabled: true,
    ...chain(
      trigger,
      ['a', 'action.create_record', { object_type: 'invoices', values: { notes: 'for {{trigger.record.name}}', total: '5' } }],
      ['b', 'action.update_record', { object_type: 'locations', record_id: '{{trigger.record_id}}', values: { address: 'seen' } }],
      ['n', 'action.notify', { title: 'New: {{trigger.record.name}}' }],
    ),
  })
  for (const [index, name] of ['one', 'two'].entries()) {
    await org.owner.post(`${org.path}/records/locations`, { values: { name } })
    await endedRuns(w, org, flow.id, index + 1)
  }
  await w.drain()
  const before = await snapshotOf({ world: w, org } as Place)
  const answer = await rehearse(org, flow.id)
  t.is(answer.status, 200, answer.text)
  const [newest, oldest] = answer.data.runs
  t.like(newest, { status: 'ok', error: null, would_call: [], messages: [] })
  t.like(newest.created, [{ object_type: 'invoices', values: { notes: 'for two', number: null } }])
  t.deepEqual(newest.changed, [], 'it is so already')
  t.like(oldest.created, [{ values: { notes: 'for one' } }])
  const nodes = flow.nodes.map((node: typeof flow) =>
    node.id === 'b' ? { ...node, config: { ...node.config, values: { address: 'other' } } } : node,
  )
  const sent = await rehearse(org, flow.id, { runs: 1, nodes, edges: flow.edges, context: {} })
  t.is(sent.data.runs.length, 1)
  t.like(sent.data.runs[0].changed, [{ object_type: 'locations', before: { address: 'seen' }, after: { address: 'other' } }])
  await w.drain()
  const after = await snapshotOf({ world: w, org } as Place)
  t.deepEqual(
    [...after].filter(([table, rows]) => before.get(table) !== rows && !/operations|idempotency_records|field_uses/.test(table)),
    [],
  )
  t.deepEqual(
    (await recordsOf(org, 'invoices')).map(({ number }) => number),
    ['INV-00001', 'INV-00002'],
  )
  const next = await org.owner.post(`${org.path}/records/invoices`, { values: {} })
  t.is(next.data.values.number, 'INV-00003', 'no number of the series was taken')
})

test('rehearsal: calls and functions return their recorded answers if their input is the same', async (t) => {
  await open()
  const org = await createOrg(w)
  const fn = (await org.owner.post(`${org.path}/functions`, { name: 'Twice', source: 'const handler = ({ n }) => 2 * Number(n)' })).data
  const body = (by: string) =>
    chain(
      byHand,
      ['h', 'action.http_request', { url: `${receiver.url}/rate` }],
      ['f', 'action.run_function', { function_id: fn.id, input: { n: by } }],
      ['w', 'logic.wait', { minutes: '0.001' }],
      ['a', 'action.create_record', { object_type: 'locations', values: { name: '{{steps.h.body.rate}} {{steps.f.result}}' } }],
    )
  const flow = await createFlow(t, org, body('{{trigger.input}}'))
  await ended(org, flow.id, await start(t, org, flow.id, 21))
  const calls = receiver.received.length
  const [same] = (await rehearse(org, flow.id)).data.runs
  t.like(same, { status: 'ok', would_call: [] })
  t.is(same.created[0].values.name, '2 42')
  const [other] = (await rehearse(org, flow.id, body('5'))).data.runs
  t.like(other, { status: 'ok', would_call: ['f'] })
  t.is(other.created[0].values.name, '2 ')
  t.is(receiver.received.length, calls)
})

test('rehearsal: a recorded answer of which a secret was removed is not played', async (t) => {
  await open()
  const org = await createOrg(w)
  const source = 'const handler = () => ({ token: "T123456", name: "n" })'
  const fn = (await org.owner.post(`${org.path}/functions`, { name: 'Login', source })).data
  const values = { name: '{{steps.f.result.token}} {{steps.f.result.name}}' }
  const flow = await createFlow(
    t,
    org,
    chain(
      byHand,
      ['f', 'action.run_function', { function_id: fn.id }],
      ['a', 'action.create_record', { object_type: 'locations', values }],
    ),
  )
  t.is((await ended(org, flow.id, await start(t, org, flow.id))).status, 'ok')
  t.is((await recordsOf(org, 'locations'))[0]?.name, 'T123456 n')
  const [run] = (await rehearse(org, flow.id)).data.runs
  t.deepEqual(run.would_call, ['f'])
  t.not(run.created[0]?.values.name, '[redacted] n')
})

test('rehearsal: a step that would fail is reported, and a run that would not end is stopped', async (t) => {
  await open()
  const org = await createOrg(w)
  const flow = await createFlow(t, org, graph([byHand]))
  await ended(
    org,
    flow.id,
    await start(
      t,
      org,
      flow.id,
      Array.from({ length: 150 }, (_, index) => index),
    ),
  )
  const failing = chain(
    byHand,
    ['a', 'action.create_record', { object_type: 'locations', values: { name: 'x' } }],
    ['b', 'action.create_record', { object_type: 'nope', values: {} }],
  )
  const [failed] = (await rehearse(org, flow.id, failing)).data.runs
  t.like(failed, { status: 'failed', error: 'NOT_FOUND at b: There is no record type nope; POST …/types makes one' })
  t.is(failed.created.length, 1)
  const work = ['r', 'logic.reduce', { list: '[1]', op: 'count' }] as const
  const long = graph(
    [byHand, ['l', 'logic.for_each', { list: '{{trigger.input}}' }], work, ['s', 'logic.reduce', { list: '[1]', op: 'count' }]],
    't > l',
    'l.loop > r',
    'r > s',
  )
  t.regex((await rehearse(org, flow.id, long)).data.runs[0].error, /at most 200 steps/)
})

test('rehearsal: a rehearsal has only the rights that both its caller and the editor have, and does not wait long for a lock', async (t) => {
  await open()
  const org = await createOrg(w)
  const flow = await createFlow(
    t,
    org,
    chain(byHand, ['b', 'action.update_record', { object_type: 'locations', record_id: '{{trigger.input}}', values: { name: 'y' } }]),
  )
  const { id } = (await org.owner.post(`${org.path}/records/locations`, { values: { name: 'x' } })).data
  await ended(org, flow.id, await start(t, org, flow.id, id))
  const weak = await createMember(w, org, [{ effect: 'allow', actions: ['flows:update'] }])
  const [refused] = (await rehearse(org, flow.id, {}, weak.client)).data.runs
  t.like(refused, { status: 'failed', error: 'FORBIDDEN at b: Needs records:update on locations' })
  const held = await lockLocations(t, w, org)
  const [locked] = (await rehearse(org, flow.id)).data.runs
  t.like(locked, { status: 'failed', error: 'another request is changing data that the run needs' })
  await held.release()
  const [free] = (await rehearse(org, flow.id)).data.runs
  t.like(free, { status: 'ok', error: null })
})

test('rehearsal: an earlier value is shown only where the caller could read it then, too', async (t) => {
  await open()
  const org = await createOrg(w)
  const all = { effect: 'allow', actions: ['records:*'], resources: ['locations'] }
  const rules = [
    { ...all, fields: { allow: ['name'] } },
    { ...all, condition: { 'resource.name': { eq: 'open' } } },
  ]
  const reader = await createMember(w, org, [{ effect: 'allow', actions: ['flows:update'] }, ...rules])
  const locations = `${org.path}/records/locations`
  const trigger = ['t', 'trigger.record_event', { object_type: 'locations', event: 'updated' }] as const
  const told = ['n', 'action.create_record', { object_type: 'locations', values: { name: 'was {{trigger.before.address}}' } }] as const
  const flow = await createFlow(t, org, { enabled: true, ...chain(trigger, told) })
  const { id } = (await org.owner.post(locations, { values: { name: 'closed', address: 'hidden' } })).data
  t.is((await org.owner.put(`${locations}/${id}/values`, { values: { name: 'open', address: 'shown' } })).status, 204)
  await endedRuns(w, org, flow.id, 1)
  const [byOwner] = (await rehearse(org, flow.id)).data.runs
  t.is(byOwner.created[0].values.name, 'was hidden')
  const [byReader] = (await rehearse(org, flow.id, {}, reader.client)).data.runs
  t.is(byReader.created[0].values.name, 'was ')
  t.is((await org.owner.put(`${locations}/${id}/values`, { values: { name: 'closed', address: 'hidden' } })).status, 204)
  await endedRuns(w, org, flow.id, 2)
  const change = (values: object) => chain(byHand, ['u', 'action.update_record', { object_type: 'locations', record_id: id, values }])
  const changed = async (values: object, client = org.owner) =>
    (await rehearse(org, flow.id, { runs: 1, ...change(values) }, client)).data.runs[0].changed
  const opened = { name: 'open', address: 'new' }
  t.like(await changed(opened), [{ before: { name: 'closed', address: 'hidden' }, after: opened }])
  const [seen] = await changed({ name: 'open' }, reader.client)
  t.deepEqual([seen.before, seen.after], [{ name: 'closed' }, { name: 'open' }])
  const editing = await createFlow(t, org, change(opened))
  await ended(org, editing.id, await start(t, org, editing.id))
  t.is((await org.owner.put(`${locations}/${id}/values`, { values: { name: 'closed', address: 'hidden' } })).status, 204)
  const wide = await createMember(w, org, [
    { effect: 'allow', actions: ['flows:update'] },
    ...rules.map((rule) => ({ ...rule, actions: ['records:read'] })),
    { effect: 'allow', actions: ['records:update'], resources: ['locations'] },
  ])
  const [written] = (await rehearse(org, editing.id, {}, wide.client)).data.runs
  t.is(written.error, null)
  t.deepEqual([written.changed[0].before, written.changed[0].after], [{ name: 'closed' }, opened])
})

test('rehearsal: the submitted flow is validated like one that is saved', async (t) => {
  await open()
  const org = await createOrg(w)
  const flow = await createFlow(t, org, graph([byHand]))
  const bodies = [{ runs: 0 }, { runs: 21 }, { nodes: [{ id: 'x', type: 'nope' }] }, { nodes: [{ id: 'x', type: 'logic.wait' }] }]
  for (const body of bodies) t.is((await rehearse(org, flow.id, body)).status, 400, JSON.stringify(body))
  t.deepEqual((await rehearse(org, flow.id)).data, { runs: [] })
})
