import test from 'ava'
import { byHand, chain, ended, runsOf } from '#test/features/flows/support.ts'
import { atOnce, made, openArena, rounds, tally } from '#test/races/arena.ts'
import { countFlowRuns } from '#test/races/rows.ts'

const arena = openArena(test)

const failing = chain(byHand, ['a', 'action.create_record', { object_type: '{{trigger.input}}', values: { name: 'x' } }])

test('flows: one of 20 retries of a failed run is accepted, and its effect exists once', async (t) => {
  const ring = await arena.ring()
  const flow = await made(ring.owner.post(`${ring.path}/flows`, { name: 'Race', ...failing }))
  for (let round = 0; round < rounds; round++) {
    const { run_id } = await made(ring.owner.post(`${ring.path}/flows/${flow.id}/run`, { input: 'nope' }))
    await ended(ring, flow.id, run_id)
    const answers = await atOnce(20, ring.owners, (client) => client.post(`${ring.path}/flows/${flow.id}/runs/${run_id}/retry`))
    t.deepEqual(tally(answers), { 202: 1, 400: 19 })
    await ended(ring, flow.id, answers.find(({ status }) => status === 202)?.data.id)
  }
})

test('flows: 20 cancellations of a run while it ends match its final status', async (t) => {
  const ring = await arena.ring()
  const body = chain(
    byHand,
    ['a', 'action.create_record', { object_type: 'locations', values: { name: 'one' } }],
    ['b', 'action.create_record', { object_type: 'locations', values: { name: 'two' } }],
  )
  const flow = await made(ring.owner.post(`${ring.path}/flows`, { name: 'Race', ...body }))
  let records = 0
  for (let round = 0; round < rounds; round++) {
    const { run_id } = await made(ring.owner.post(`${ring.path}/flows/${flow.id}/run`, {}))
    const answers = await atOnce(20, ring.owners, (client) => client.post(`${ring.path}/flows/${flow.id}/runs/${run_id}/cancel`))
    const run = await ended(ring, flow.id, run_id)
    const cancelled = answers.filter(({ status }) => status === 200).length
    t.true(run.status === 'cancelled' ? cancelled === 1 : cancelled === 0 && run.status === 'ok', `${run.status} and ${cancelled}`)
    records += run.steps.length
  }
  await arena.world().drain()
  t.is((await ring.owner.get(`${ring.path}/records/locations?limit=1&offset=0`)).data.total, records)
})

test('flows: 20 changes of a definition at once make a version each, with the right editor', async (t) => {
  const ring = await arena.ring()
  const flow = await made(ring.owner.post(`${ring.path}/flows`, { name: 'Race', ...failing }))
  const answers = await atOnce(20, ring.owners, (client, index) =>
    client.put(`${ring.path}/flows/${flow.id}`, { ...failing, context: { round: `${index}` } }),
  )
  t.deepEqual(tally(answers), { 200: 20 })
  const versions = await made(ring.owner.get(`${ring.path}/flows/${flow.id}/versions`))
  t.deepEqual(
    versions.map(({ version }: { version: number }) => version),
    Array.from({ length: 21 }, (_, index) => 21 - index),
  )
  t.is(new Set(versions.map(({ context }: { context: { round?: string } }) => context.round)).size, 21)
})

test('flows: 20 runs by hand with one Idempotency-Key are one run', async (t) => {
  const ring = await arena.ring()
  const flow = await made(ring.owner.post(`${ring.path}/flows`, { name: 'Race', ...failing }))
  for (let round = 0; round < rounds; round++) {
    const key = { 'idempotency-key': `round ${round}` }
    const answers = await atOnce(20, ring.owners, (client) => client.post(`${ring.path}/flows/${flow.id}/run`, { input: 'locations' }, key))
    t.deepEqual(tally(answers), { 202: 20 })
    t.is(new Set(answers.map(({ data }) => data.run_id)).size, 1)
  }
  await arena.world().drain()
  t.is((await runsOf(ring, flow.id)).length, rounds)
})

test('flows: a flow that is deleted while it is run leaves no run open', async (t) => {
  const ring = await arena.ring()
  for (let round = 0; round < rounds; round++) {
    const flow = await made(ring.owner.post(`${ring.path}/flows`, { name: 'Race', ...failing }))
    const url = `${ring.path}/flows/${flow.id}`
    const answers = await atOnce(20, ring.owners, (client, index) =>
      index === 7 ? client.delete(url) : client.post(`${url}/run`, { input: 'locations' }),
    )
    t.true(answers.every(({ status }) => [202, 204, 404].includes(status)))
  }
  await arena.world().drain()
  t.is(await countFlowRuns(arena.world().db, ring.id, 'open'), 0)
})
