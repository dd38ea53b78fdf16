import test, { type ExecutionContext } from 'ava'
import { makeEvent } from '#test/features/calendar/support.ts'
import { start as begin, byHand, chain, createFlow, ended, outputsOf, runOf, runsOf } from '#test/features/flows/support.ts'
import { createFollowingQueue, northRule, stages } from '#test/features/queues/following.ts'
import { createLine, plainStages } from '#test/features/queues/support.ts'
import type { Client } from '#test/support/client.ts'
import { createMember, createOrg, type Org } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const shared = shareWorld(test)
const allow = (...actions: string[]) => ({ effect: 'allow', actions })
const location = (id: string, name: string) => [id, 'action.create_record', { object_type: 'locations', values: { name } }] as const
const filter = (id: string, list: string) => [id, 'logic.filter', { list, clauses: [{ left: '{{item.none}}', op: 'is_empty' }] }] as const

/** Everything that a caller sees of a flow's runs: lists, views and a rehearsal. */
async function shownTo(t: ExecutionContext, org: Org, flowId: string, client: Client): Promise<string> {
  const rehearsed = await client.post(`${org.path}/flows/${flowId}/rehearse`, {})
  t.is(rehearsed.status, 200, rehearsed.text)
  const lists = [await client.get(`${org.path}/flows/${flowId}/runs`), await client.get(`${org.path}/flows/runs?flow=${flowId}`)]
  const runs = await Promise.all(lists[0]?.data.map(({ id }: { id: string }) => client.get(`${org.path}/flows/${flowId}/runs/${id}`)) ?? [])
  return [rehearsed, ...lists, ...runs].map(({ text }) => text).join('\n')
}

test('visibility: a private event that started a flow is shown only to callers who may see it', async (t) => {
  const w = await shared()
  const org = await createOrg(w)
  const [ann, bob] = [await createMember(w, org, [allow('*')]), await createMember(w, org, [allow('*')])]
  const body = chain(
    ['t', 'trigger.calendar_event', { event: 'created' }],
    filter('f', '{{trigger.calendar_event.attendees}}'),
    location('a', '{{trigger.calendar_event.title}}'),
  )
  const flow = await createFlow(t, org, { enabled: true, ...body }, ann.client)
  const guest = { email: 'clinic@example.com', name: 'Clinic' }
  const event = await makeEvent(t, { org }, { title: 'Surgery', visibility: 'private', attendees: [guest] }, ann.client)
  await w.drain()
  const [run] = await runsOf(org, flow.id)
  t.is(run.status, 'ok')
  t.deepEqual([run.trigger.record_id, run.trigger.object_type], [null, null], 'the owner of the workspace may not see it')
  const [anns, bobs] = [await shownTo(t, org, flow.id, ann.client), await shownTo(t, org, flow.id, bob.client)]
  for (const text of ['Surgery', 'clinic@example.com', event.id]) t.true(anns.includes(text), text)
  // The run shows values that the flow wrote into a record to callers who may read the record.
  const rehearsed = JSON.stringify((await bob.client.post(`${org.path}/flows/${flow.id}/rehearse`, {})).data)
  for (const text of ['Surgery', 'clinic@example.com']) t.false(rehearsed.includes(text), text)
  t.false(bobs.includes('clinic@example.com'))
  const view = await runOf(org, flow.id, run.id, bob.client)
  t.false('output' in view.steps[0])
  // It stays hidden after its deletion.
  t.is((await ann.client.delete(`${org.path}/calendar/events/${event.id}`)).status, 200)
  t.false((await shownTo(t, org, flow.id, bob.client)).includes('clinic@example.com'))
  t.true((await shownTo(t, org, flow.id, ann.client)).includes('clinic@example.com'))
})

test('visibility: what derives from a record in a step is shown to callers who may read all of that record', async (t) => {
  const w = await shared()
  const org = await createOrg(w)
  const flows = ['flows:read', 'flows:update']
  const masked = { effect: 'allow', actions: ['records:read'], fields: { deny: ['address'] } }
  const [blind, seeing] = [
    await createMember(w, org, [allow(...flows), masked]),
    await createMember(w, org, [allow(...flows, 'records:read')]),
  ]
  const flow = await createFlow(
    t,
    org,
    chain(
      byHand,
      ['u', 'action.create_record', { object_type: 'locations', values: { name: 'Vault', address: 'secret' } }],
      ['r', 'logic.reduce', { list: '[{"v":"{{steps.u.values.address}}"}]', op: 'join', field: 'v' }],
      filter('f', '["{{steps.r.value}}"]'),
      filter('g', '["open"]'),
    ),
  )
  const run = await ended(org, flow.id, await begin(t, org, flow.id))
  t.is(run.status, 'ok', JSON.stringify(run))
  const shown = async (client: Client) => outputsOf(await runOf(org, flow.id, run.id, client))
  t.like(await shown(seeing.client), { r: { value: 'secret' }, f: { items: ['secret'] } })
  const { u, r, f, g } = await shown(blind.client)
  t.deepEqual([u.values.name, u.values.address, r, f, g.items], ['Vault', undefined, undefined, undefined, ['open']])
  t.is((await org.owner.delete(`${org.path}/records/locations/${u.id}`)).status, 204)
  t.like(await shown(seeing.client), { r: { value: 'secret' } })
  t.is((await shown(blind.client)).r, undefined)
})

test('visibility: a rehearsal names neither an event nor a record that the caller may not see', async (t) => {
  const w = await shared()
  const org = await createOrg(w)
  const flows = allow('flows:read', 'flows:update', 'flows:run')
  const [ann, blind] = [await createMember(w, org, [allow('*')]), await createMember(w, org, [flows])]
  // Its failure repeats the list.
  const tells = filter('f', '{{trigger}}')
  const ofEvents = await createFlow(
    t,
    org,
    { enabled: true, ...chain(['t', 'trigger.calendar_event', { event: 'created' }], tells) },
    ann.client,
  )
  const ofRecords = await createFlow(t, org, {
    enabled: true,
    ...chain(['t', 'trigger.record_event', { object_type: 'locations', event: 'created' }], tells),
  })
  const event = await makeEvent(t, { org }, { title: 'Surgery', visibility: 'private' }, ann.client)
  const record = (await org.owner.post(`${org.path}/records/locations`, { values: { name: 'Vault' } })).data
  await w.drain()
  for (const [flow, id] of [
    [ofEvents.id, event.id],
    [ofRecords.id, record.id],
  ]) {
    const rehearsed = async (client: Client) => (await client.post(`${org.path}/flows/${flow}/rehearse`, {})).text
    t.true((await rehearsed(ann.client)).includes(id))
    t.false((await rehearsed(blind.client)).includes(id))
  }
})

test('visibility: an input is shown to its caller and to the owner, in rehearsals, outputs and errors', async (t) => {
  const w = await shared()
  const org = await createOrg(w)
  const [giver, editor] = [await createMember(w, org, [allow('*')]), await createMember(w, org, [allow('*')])]
  const late = [
    'e',
    'action.create_event',
    { calendar_key: 'team', title: 'x', start: '2027-01-01T10:00:00Z', all_day: '{{trigger.input.word}}' },
  ] as const
  const body = chain(
    byHand,
    filter('f', '{{trigger.input.list}}'),
    ['w', 'logic.wait', { minutes: '0' }],
    filter('g', '{{steps.f.items}}'),
    late,
  )
  const flow = await createFlow(t, org, body, editor.client)
  const { data } = await giver.client.post(`${org.path}/flows/${flow.id}/run`, {
    input: { list: [{ code: 'swordfish' }], word: 'swordfish' },
  })
  t.is((await ended(org, flow.id, data.run_id)).status, 'failed')
  for (const client of [giver.client, org.owner]) t.true((await shownTo(t, org, flow.id, client)).includes('swordfish'))
  t.false((await shownTo(t, org, flow.id, editor.client)).includes('swordfish'))
  const view = await runOf(org, flow.id, data.run_id, editor.client)
  t.is(view.error, 'VALIDATION_ERROR at e')
})

test('visibility: a record that started a flow is named only to callers who may read it', async (t) => {
  const w = await shared()
  const org = await createOrg(w)
  const reads = (...resources: string[]) => ({ ...allow('records:read'), resources })
  const flows = allow('flows:read', 'flows:update', 'flows:run')
  const [blind, seeing] = [await createMember(w, org, [flows]), await createMember(w, org, [flows, reads('locations')])]
  const body = chain(
    ['t', 'trigger.record_event', { object_type: 'locations', event: 'created' }],
    filter('f', '["{{trigger.record.name}}"]'),
    ['e', 'action.create_event', { calendar_key: 'team', title: 'x', start: '2027-01-01T10:00:00Z', all_day: '{{trigger.record.name}}' }],
  )
  const flow = await createFlow(t, org, { enabled: true, ...body })
  const { id } = (await org.owner.post(`${org.path}/records/locations`, { values: { name: 'Vault' } })).data
  await w.drain()
  const [run] = await runsOf(org, flow.id)
  t.is(run.trigger.record_id, id)
  t.true((await shownTo(t, org, flow.id, seeing.client)).includes('Vault'))
  const hidden = [
    await blind.client.get(`${org.path}/flows/${flow.id}/runs`),
    await blind.client.get(`${org.path}/flows/${flow.id}/runs/${run.id}`),
  ]
  for (const { text } of hidden) for (const word of ['Vault', id]) t.false(text.includes(word), word)
})

test('visibility: the item that started a flow is shown to callers who may read the work queue', async (t) => {
  const w = await shared()
  const org = await createOrg(w)
  const flows = allow('flows:read', 'flows:update', 'flows:run')
  const [blind, seeing] = [await createMember(w, org, [flows]), await createMember(w, org, [flows, allow('queues:read')])]
  const flow = await createFlow(t, org, chain(byHand, filter('f', '{{trigger.input.item.payload.list}}')))
  const [first, work, last] = plainStages
  const line = await createLine(t, org, { stages: [first, { ...work, on_enter: { flow_id: flow.id } }, last] })
  const [item = ''] = await line.add([{ key: 'a', payload: { list: [{ code: 'swordfish' }] } }])
  t.is((await line.move(item, 'work')).status, 200)
  await w.drain()
  t.true((await shownTo(t, org, flow.id, seeing.client)).includes('swordfish'))
  t.false((await shownTo(t, org, flow.id, blind.client)).includes('swordfish'))
})

test('visibility: if items follow their records, the item that started a flow is shown to callers who may read its record', async (t) => {
  const w = await shared()
  const org = await createOrg(w)
  const { line, createJob } = await createFollowingQueue(t, { ...w, org })
  const rights = [allow('flows:read', 'flows:update', 'flows:run'), allow('queues:read')]
  const [seeing, blind] = [
    await createMember(w, org, [...rights, allow('records:read')]),
    await createMember(w, org, [...rights, northRule]),
  ]
  const flow = await createFlow(t, org, chain(byHand, filter('f', '{{trigger.input.item.payload.list}}')))
  const entered = stages.map((stage) => (stage.key === 'work' ? { ...stage, on_enter: { flow_id: flow.id } } : stage))
  t.is((await org.owner.put(line.path, { stages: entered })).status, 200)
  const [item = ''] = await line.add([{ key: 'a', record_id: await createJob('south'), payload: { list: [{ code: 'swordfish' }] } }])
  t.is((await line.move(item, 'work')).status, 200)
  await w.drain()
  t.true((await shownTo(t, org, flow.id, seeing.client)).includes('swordfish'))
  t.false((await shownTo(t, org, flow.id, blind.client)).includes('swordfish'))
})

test('visibility: a flow whose editor may not read a record gets no id of the item with its key', async (t) => {
  const w = await shared()
  const org = await createOrg(w)
  const { line, createJob } = await createFollowingQueue(t, { ...w, org })
  await line.add([{ key: 'a', record_id: await createJob('south') }])
  const editor = await createMember(w, org, [allow('flows:create', 'flows:run', 'queues:enqueue'), northRule])
  const adding = chain(byHand, ['a', 'action.enqueue_item', { queue_key: 'line', key: 'a' }])
  const flow = await createFlow(t, org, adding, editor.client)
  const run = await ended(org, flow.id, await begin(t, org, flow.id))
  t.deepEqual(outputsOf(await runOf(org, flow.id, run.id)).a, { id: null, duplicate: true }, run.error)
  t.is((await line.summary()).total, 1)
})
