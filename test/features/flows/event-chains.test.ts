import test, { type ExecutionContext } from 'ava'
import { note, noted, ofStaff, on, openStaff } from '#test/features/flows/event-support.ts'
import { byHand, chain, createFlow, graph, runsOf, start } from '#test/features/flows/support.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const shared = shareWorld(test)
const open = async (t: ExecutionContext) => openStaff(t, await shared())

test('event chains: events of its own runs start no run of a flow, also of a function that the run calls', async (t) => {
  const { w, org, create, owner, path } = await open(t)
  const source = `async function handler() { await sdk.records.create('notes', { text: 'by function' }); throw new Error('planted') }`
  const fn = await owner.post(`${path}/functions`, { name: 'f', source })
  t.is(fn.status, 201, fn.text)
  const flow = await createFlow(t, org, {
    enabled: true,
    ...chain(on(['records.*', 'functions.*', 'flows.*']), note('{{trigger.event.type}}'), [
      'f',
      'action.run_function',
      { function_id: fn.data.id },
    ]),
  })
  await create({ name: 'Ann' })
  await w.drain()
  t.deepEqual(await noted(org), ['by function', 'records.created'])
  const [run, ...others] = await runsOf(org, flow.id)
  t.deepEqual(others, [])
  t.is(run.status, 'failed')
  // Nor does the end of a run that somebody cancels.
  t.is((await owner.delete(`${path}/flows/${flow.id}`)).status, 204)
  const slow = await createFlow(t, org, { enabled: true, ...chain(on(['flows.run.*']), ['w', 'logic.wait', { minutes: 10 }]) })
  await start(t, org, (await createFlow(t, org, chain(byHand, note('x')))).id)
  await w.drain()
  const [waiting] = await runsOf(org, slow.id)
  await owner.post(`${path}/flows/${slow.id}/runs/${waiting.id}/cancel`)
  await w.drain()
  t.is((await runsOf(org, slow.id)).length, 1)
})

test('event chains: the id of a request that a caller names after a run of the flow hides nothing from the flow', async (t) => {
  const { w, org, create, owner, path } = await open(t)
  const source = `async function handler({ item }) { await sdk.records.create('staff', { name: item.key }) }`
  const fn = (await owner.post(`${path}/functions`, { name: 'f', source })).data.id
  const stages = [
    { key: 'in', label: 'In', kind: 'start', position: 1, on_enter: { function_id: fn } },
    { key: 'out', label: 'Out', kind: 'terminal', position: 2 },
  ]
  const queue = (await owner.post(`${path}/queues`, { name: 'Dock', stages })).data
  const enqueues = ['q', 'action.enqueue_item', { queue_key: queue.key, key: 'of the run' }] as const
  const flow = await createFlow(t, org, {
    enabled: true,
    ...graph([on(['records.created']), ofStaff, note('{{trigger.event.data.after.name}}'), enqueues], 't > c', 'c.true > n', 'n > q'),
  })
  await create({ name: 'Ann' })
  await w.drain()
  const [run] = await runsOf(org, flow.id)
  const added = await owner.post(`${path}/queues/${queue.id}/items`, { keys: ['by hand'] }, { 'x-request-id': run.id })
  t.is(added.status, 201, added.text)
  await w.drain()
  // What the run itself leads to by the queue is its own.
  t.deepEqual(await noted(org), ['Ann', 'by hand'])
})

test('event chains: flows that start each other by the ends of their runs are a chain of eight', async (t) => {
  const { w, org, create } = await open(t)
  const stop = ['s', 'logic.filter', { list: '[]' }] as const
  const [one, other] = [
    await createFlow(t, org, { enabled: true, ...chain(on(['flows.run.*']), stop) }),
    await createFlow(t, org, { enabled: true, ...chain(on(['flows.run.*', 'records.created']), stop) }),
  ]
  await create({ name: 'Ann' })
  await w.drain()
  const runs = [...(await runsOf(org, one.id)), ...(await runsOf(org, other.id))]
  t.is(runs.filter(({ status }) => status === 'ok').length, 8)
  const failed = runs.filter(({ status }) => status === 'failed')
  t.true(failed.length >= 1)
  for (const { error } of failed) t.regex(error, /flows set each other off 8 deep/)
  // The end of the ninth run starts no run: that would fail and end, too, and so on without end.
  t.is(failed.length, 1)
})
