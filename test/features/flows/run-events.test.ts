import test from 'ava'
import { lastSeq, readAll, type Seen } from '#test/core/events/reading.ts'
import { loseRun } from '#test/features/flows/rows.ts'
import { byHand, chain, createFlow, ended, start } from '#test/features/flows/support.ts'
import { createMember, createOrg } from '#test/support/factories.ts'
import { runMaintenanceTask } from '#test/support/maintenance.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const shared = shareWorld(test)

const note = ['n', 'action.create_record', { object_type: 'locations', values: { name: 'x' } }] as const
const fails = ['f', 'action.delete_record', { object_type: 'locations', record_id: '01a1fbc8-8645-7571-bf7a-d5998224cc5c' }] as const
const waits = ['w', 'logic.wait', { minutes: 10 }] as const

const ends = (events: readonly Seen[]) => events.filter(({ type }) => type.startsWith('flows.run.'))

test('run events: each end of a run is one event, with who ended it and why', async (t) => {
  const w = await shared()
  const org = await createOrg(w)
  const world = { ...w, org }
  const { owner, ownerId, path } = org
  const admin = await createMember(w, org, [{ effect: 'allow', actions: ['flows:read', 'flows:run', 'flows:delete'] }])
  const after = await lastSeq(world)
  const [good, bad, slow, gone] = [
    await createFlow(t, org, chain(byHand, note)),
    await createFlow(t, org, chain(byHand, fails)),
    await createFlow(t, org, chain(byHand, waits)),
    await createFlow(t, org, chain(byHand, waits)),
  ]
  const incomplete = await createFlow(t, org, chain(byHand, ['n', 'action.create_record']))
  const runIds: string[] = []
  for (const { id } of [good, bad, slow, gone, incomplete]) runIds.push(await start(t, org, id))
  await w.drain()
  const [ok, failed, cancelled, orphan, problem] = runIds as [string, string, string, string, string]
  t.is((await admin.client.post(`${path}/flows/${slow.id}/runs/${cancelled}/cancel`)).status, 200)
  t.is((await admin.client.post(`${path}/flows/${slow.id}/runs/${cancelled}/cancel`)).status, 400)
  t.is((await admin.client.delete(`${path}/flows/${gone.id}`)).status, 204)
  await w.drain()
  const events = ends(await readAll(world, owner, after))
  const byRun = new Map(events.map((event) => [event.subject.id, event]))
  t.is(events.length, 5)
  const expect = (flow: { id: string }, run: string, type: string, status: string, own: boolean) => {
    const { subject, data, actor, cause, ...event } = byRun.get(run) as Seen
    t.is(event.type, type)
    t.deepEqual(subject, { flow: flow.id, id: run })
    t.deepEqual(data, { status, trigger: 'manual', version: 1, retry_of: null })
    t.deepEqual(actor, { id: own ? ownerId : admin.id, type: 'user' })
    t.deepEqual(cause, own ? { kind: 'flow', id: run } : { kind: 'request', id: null })
  }
  expect(good, ok, 'flows.run.finished', 'ok', true)
  expect(bad, failed, 'flows.run.failed', 'failed', true)
  expect(incomplete, problem, 'flows.run.failed', 'failed', true)
  expect(slow, cancelled, 'flows.run.failed', 'cancelled', false)
  expect(gone, orphan, 'flows.run.failed', 'failed', false)
  const retried = await owner.post(`${path}/flows/${bad.id}/runs/${failed}/retry`)
  await w.drain()
  const last = ends(await readAll(world, owner, after)).at(-1)
  t.like(last, { type: 'flows.run.failed', subject: { id: retried.data.id }, data: { retry_of: failed } })
})

test('run events: the end of a run that is given up is an event of the platform, and a run that was revived ends once', async (t) => {
  const w = await shared()
  const org = await createOrg(w)
  const world = { ...w, org }
  const after = await lastSeq(world)
  const flow = await createFlow(t, org, chain(byHand, note))
  const lost = async (revived: number) => {
    const runId = await start(t, org, flow.id)
    await ended(org, flow.id, runId)
    await loseRun(w.db, runId, revived)
    await runMaintenanceTask(w, 'lost runs of flows')
    await ended(org, flow.id, runId)
    return ends(await readAll(world, org.owner, after)).filter(({ subject }) => subject.id === runId)
  }
  // The test opens the run again, so it has ended before.
  t.deepEqual(
    (await lost(0)).map(({ type, cause }) => [type, cause.kind]),
    Array(2).fill(['flows.run.finished', 'flow']),
  )
  const [, givenUp, ...others] = await lost(5)
  t.deepEqual(others, [])
  t.like(givenUp, { type: 'flows.run.failed', actor: { id: null, type: 'system' }, cause: { kind: 'system', id: null } })
})

test('run events: only who may read the flow sees the ends of its runs', async (t) => {
  const w = await shared()
  const org = await createOrg(w)
  const world = { ...w, org }
  const after = await lastSeq(world)
  const [one, other] = [await createFlow(t, org, chain(byHand, note)), await createFlow(t, org, chain(byHand, note))]
  const reader = await createMember(w, org, [{ effect: 'allow', actions: ['flows:read'], resources: [one.id] }])
  const blind = await createMember(w, org, [{ effect: 'allow', actions: ['records:read', 'functions:read'] }])
  for (const { id } of [one, other]) await start(t, org, id)
  await w.drain()
  const seen = ends(await readAll(world, reader.client, after))
  t.deepEqual(
    seen.map(({ subject }) => subject.flow),
    [one.id],
  )
  t.deepEqual(ends(await readAll(world, blind.client, after)), [])
})
