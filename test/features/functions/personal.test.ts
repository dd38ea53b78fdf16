import test, { type ExecutionContext } from 'ava'
import { at, makeCalendar, makeEvent } from '#test/features/calendar/support.ts'
import { firstSpaces, spaceOf } from '#test/features/drive/support.ts'
import { byHand, chain, createFlow, ended } from '#test/features/flows/support.ts'
import { readPersonalRuns } from '#test/features/functions/rows.ts'
import { allow } from '#test/features/functions/support.ts'
import { createLine, plainStages } from '#test/features/queues/support.ts'
import type { Client } from '#test/support/client.ts'
import { type Caller, createMember, createOrg, type Org } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const shared = shareWorld(test)

interface Place {
  readonly w: World
  readonly org: Org
  readonly ann: Caller
  readonly bob: Caller
  /** A handler that reads personal data of Bob and writes its result as a location. */
  readonly source: string
}

/** Everything personal that Bob has: a file, a folder shared with him, a private event, an invitation and a calendar shared with him. */
async function placeOf(t: ExecutionContext): Promise<Place> {
  const w = await shared()
  const org = await createOrg(w)
  const [ann, bob] = [await createMember(w, org, [allow('*')], 'Ann'), await createMember(w, org, [allow('*')], 'Bob')]
  const bobs = (await firstSpaces(bob.client, org)).main
  const owners = (await firstSpaces(org.owner, org)).main
  await spaceOf(bob.client, org, bobs).put('diary', 'Dear diary')
  await spaceOf(org.owner, org, owners).put('for/bob', 'For Bob')
  t.is((await spaceOf(org.owner, org, owners).share({ prefix: 'for/', user_id: bob.id, mode: 'view' })).status, 201)
  const place = { org }
  await makeEvent(t, place, { title: 'Doctor', visibility: 'private' }, bob.client)
  await makeEvent(t, place, { title: 'Talk', attendees: [{ user_id: bob.id }] })
  const calendar = await makeCalendar(t, place, { kind: 'personal', key: undefined })
  await makeEvent(t, place, { title: 'Trip', calendar_id: calendar.id })
  const address = (await bob.client.get('/v1/auth/me')).data.email
  t.is((await org.owner.post(at(place, `/calendars/${calendar.id}/shares`), { email: address, level: 'read' })).status, 201)
  const source = `async function handler() {
    const tried = (call) => call.catch((error) => error.code)
    const window = { from: '2026-12-01T00:00:00Z', to: '2026-12-02T00:00:00Z' }
    const titles = async (query) => (await sdk.calendar.events(query)).events.map(({ title }) => title).sort().join()
    const name = [
      await tried(sdk.drive.read('${bobs}', 'diary')),
      await tried(sdk.drive.read('${owners}', 'for/bob')),
      await tried(titles({ ...window, invites: '1' })),
      await tried(titles({ ...window, calendars: '${calendar.id}' })),
      await tried(sdk.drive.write('${bobs}', 'left', 'x').then(() => 'written')),
      await tried(sdk.calendar.createEvent({ title: 'Left', start: '2026-12-24T09:00:00Z' }).then(() => 'made')),
    ].join(' | ')
    await sdk.records.create('locations', { name })
    return name
  }`
  return { w, org, ann, bob, source }
}

const nothing = 'NOT_FOUND | NOT_FOUND |  | NOT_FOUND | NOT_FOUND | VALIDATION_ERROR'
const everything = 'Dear diary | For Bob | Doctor,Talk,Trip | Trip | written | made'

async function functionOf(t: ExecutionContext, { org }: Place, client: Client, source: string): Promise<string> {
  const made = await client.post(`${org.path}/functions`, { name: 'Reads', source, timeout_ms: 30_000 })
  t.is(made.status, 201, made.text)
  return made.data.id
}

const invoked = async ({ org }: Place, client: Client, id: string) =>
  (await client.post(`${org.path}/functions/${id}/invoke`, {})).data.result

/** The names of the locations that runs have left, once all that was set off is done. */
async function left({ w, org }: Place): Promise<string[]> {
  await w.drain()
  const { data } = await org.owner.get(`${org.path}/records/locations?sort=created_at&dir=asc&filter=[]`)
  return data.records.map(({ values }: { values: { name: string } }) => values.name)
}

test('personal: a function reaches personal data of its author only if the author runs it', async (t) => {
  const place = await placeOf(t)
  const [bobs, anns] = [
    await functionOf(t, place, place.bob.client, place.source),
    await functionOf(t, place, place.ann.client, place.source),
  ]
  t.is(await invoked(place, place.bob.client, bobs), everything)
  t.is(await invoked(place, place.bob.client, anns), nothing)
  t.is(await invoked(place, place.ann.client, bobs), nothing)
  const through = `async function handler() { return (await sdk.functions.invoke('${bobs}')).result }`
  t.is(await invoked(place, place.bob.client, await functionOf(t, place, place.ann.client, through)), nothing)
  t.is(await invoked(place, place.bob.client, await functionOf(t, place, place.bob.client, through)), everything)
})

test('personal: data open to every member is in reach of a function that another member runs', async (t) => {
  const { w, org, ann, bob } = await placeOf(t)
  const calendar = await makeCalendar(t, { org }, { key: 'hall', visibility: 'read' })
  await makeEvent(t, { org }, { title: 'Fair', calendar_id: calendar.id })
  const service = await createMember(w, org, [allow('functions:invoke')])
  const source = `async function handler() {
    return (await sdk.calendar.events({ from: '2026-12-01T00:00:00Z', to: '2026-12-02T00:00:00Z', calendars: '${calendar.id}' })).events.length
  }`
  const place = { org } as Place
  const id = await functionOf(t, place, ann.client, source)
  t.is(await invoked(place, service.client, id), 1)
  t.is(await invoked(place, bob.client, id), 1)
})

for (const [title, author, editor, expected] of [
  ['of another author', 'ann', 'bob', nothing],
  ['that another set up', 'bob', 'ann', nothing],
  ['of one’s own', 'bob', 'bob', everything],
] as const) {
  test(`personal: a button and on_enter run a function ${title} ${expected === everything ? 'with' : 'without'} personal standing`, async (t) => {
    const place = await placeOf(t)
    const { org, bob } = place
    const id = await functionOf(t, place, place[author].client, place.source)
    const [first, work, last] = plainStages
    const line = await createLine(
      t,
      { owner: place[editor].client, path: org.path },
      { stages: [{ ...first, buttons: [{ id: 'go', label: 'Go', function_id: id }] }, { ...work, on_enter: { function_id: id } }, last] },
    )
    const [item = ''] = await line.add(['a'])
    const pressed = await bob.client.post(`${line.path}/stages/in/action`, { button_id: 'go', item_ids: [item] })
    t.is(pressed.status, 200, pressed.text)
    t.deepEqual(await left(place), [expected])
    t.is((await line.move(item, 'work', {}, bob.client)).status, 200)
    t.deepEqual(await left(place), [expected, expected])
  })
}

test('personal: a flow reaches personal data of its editor only if the editor starts it', async (t) => {
  const place = await placeOf(t)
  const { org, bob, ann } = place
  const id = await functionOf(t, place, bob.client, place.source)
  const run = ['f', 'action.run_function', { function_id: id }] as const
  const flow = await createFlow(t, org, chain(byHand, run), bob.client)
  const result = async (client: Client, path = 'run') => {
    const started = await client.post(`${org.path}/flows/${flow.id}/${path}`, {})
    t.is(started.status, 202, started.text)
    const done = await ended(org, flow.id, started.data.run_id ?? started.data.id)
    return done.steps.find(({ node_id }: { node_id: string }) => node_id === 'f').output.result
  }
  t.is(await result(bob.client), everything)
  t.is(await result(ann.client), nothing)
  t.is(await result(org.owner), nothing)
  // Neither through a function of another that starts it in the editor's name,
  const starts = await functionOf(t, place, ann.client, `async function handler() { return (await sdk.flows.run('${flow.id}')).run_id }`)
  await invoked(place, bob.client, starts)
  t.deepEqual((await left(place)).slice(3), [nothing])
  // nor by a change of a record, even one of the editor's own.
  await createFlow(
    t,
    org,
    { enabled: true, ...chain(['t', 'trigger.record_event', { object_type: 'invoices', event: 'created' }], run) },
    bob.client,
  )
  const made = await bob.client.post(`${org.path}/records/invoices`, { values: { notes: 'x' } })
  t.is(made.status, 201, made.text)
  t.deepEqual((await left(place)).slice(4), [nothing])
})

test('personal: a retried run is personal only if its editor started and retried it', async (t) => {
  const place = await placeOf(t)
  const { org, bob, ann } = place
  const id = await functionOf(t, place, bob.client, place.source)
  const blocks = [byHand, ['w', 'action.update_record', { object_type: 'locations', record_id: 'none', values: {} }]] as const
  const flow = await createFlow(t, org, chain(...blocks, ['f', 'action.run_function', { function_id: id }]), bob.client)
  const personal = () => readPersonalRuns(place.w.db, flow.id)
  const started = async (client: Client, path: string) => {
    const { data, status, text } = await client.post(`${org.path}/flows/${flow.id}/${path}`, {})
    t.is(status, 202, text)
    return (await ended(org, flow.id, data.run_id ?? data.id)).id as string
  }
  const runs = [await started(bob.client, 'run'), await started(bob.client, 'run'), await started(ann.client, 'run')]
  await started(bob.client, `runs/${runs[0]}/retry`)
  await started(ann.client, `runs/${runs[1]}/retry`)
  await started(bob.client, `runs/${runs[2]}/retry`)
  t.deepEqual(await personal(), [true, true, false, true, false, false])
})

test('personal: an event of the editor’s own calendar starts a personal run, one of a calendar shared with the editor does not', async (t) => {
  const place = await placeOf(t)
  const { org, bob, ann } = place
  // An event that it made would set the flow off again.
  const source = place.source.replace(/tried\(sdk\.calendar\.createEvent.*\)\),/, "'made',")
  const id = await functionOf(t, place, bob.client, source)
  const on = {
    enabled: true,
    ...chain(['t', 'trigger.calendar_event', { event: 'created' }], ['f', 'action.run_function', { function_id: id }]),
  }
  const flow = await createFlow(t, org, on, bob.client)
  await makeEvent(t, { org }, { title: 'Own', start: '2026-12-09T09:00:00Z' }, bob.client)
  t.deepEqual(await left(place), [everything])
  const shared = (await bob.client.get(at({ org }, '/calendars'))).data.find(({ access }: { access: string }) => access === 'read')
  await makeEvent(t, { org }, { title: 'Shared', calendar_id: shared.id, start: '2026-12-09T09:00:00Z' })
  await makeEvent(t, { org }, { title: 'Invited', attendees: [{ user_id: bob.id }], start: '2026-12-09T09:00:00Z' }, ann.client)
  const team = await makeCalendar(t, { org }, { key: 'crew' })
  await makeEvent(t, { org }, { title: 'Team', calendar_id: team.id, start: '2026-12-09T09:00:00Z' })
  await place.w.drain()
  const runs = (await bob.client.get(`${org.path}/flows/${flow.id}/runs`)).data
  t.deepEqual(runs.map(({ trigger }: { trigger: { object_type: string } }) => trigger.object_type.slice(0, 2)).sort(), ['cr', 'u-'])
  t.deepEqual((await left(place)).toSorted(), [everything, nothing.replace('VALIDATION_ERROR', 'made')].toSorted())
})
