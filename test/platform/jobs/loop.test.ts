import { queryObjects } from 'node:v8'
import test from 'ava'
import { continueRunJob } from '#shared/features/flows/jobs.ts'
import { byHand, chain, createFlow, ended, endedRuns, start } from '#test/features/flows/support.ts'
import { createOrg } from '#test/support/factories.ts'
import { hearSent } from '#test/support/watch/sent.ts'
import { world } from '#test/support/world.ts'

test('loop: no jobs are fetched while none wait', async (t) => {
  const w = await world({}, ['data', 'mail'])
  t.teardown(w.close)
  await w.drain()
  let [looks, fetches] = [0, 0]
  t.teardown(
    hearSent(({ text }) => {
      if (text.includes('SKIP LOCKED')) fetches += 1
      else if (/\bselect queue\.name/.test(text)) looks += 1
    }),
  )
  for (let count = 1; count <= 3; count++) {
    w.worker.pools.pollAll()
    await w.drain()
  }
  t.true(looks >= 3)
  t.is(fetches, 0)
})

test('loop: a completed job leaves nothing in its worker, whatever its timeout', async (t) => {
  const w = await world()
  t.teardown(w.close)
  const exportOne = async () => t.is((await w.org.owner.get(`${w.org.path}/records/locations/export`)).status, 200)
  await exportOne()
  await w.drain()
  // Collects garbage before counting.
  const signals = () => Number(queryObjects(AbortSignal))
  const before = signals()
  for (let count = 0; count < 50; count++) await exportOne()
  await w.drain()
  const left = signals() - before
  t.true(left < 10, `${left} signals are left of 50 jobs`)
})

test('loop: jobs of one workspace are fetched in groups, and those of others when a signal announces them', async (t) => {
  const w = await world({}, ['flows', 'data'])
  t.teardown(w.close)
  const flow = await createFlow(t, w.org, {
    enabled: true,
    ...chain(
      ['t', 'trigger.record_event', { object_type: 'locations', event: 'created' }],
      ['r', 'logic.reduce', { list: '[1]', op: 'count' }],
    ),
  })
  const other = await createOrg(w)
  const others = await createFlow(t, other, chain(byHand, ['r', 'logic.reduce', { list: '[1]', op: 'count' }]))
  let [fetches, pastFull] = [0, 0]
  t.teardown(
    hearSent(({ text }) => {
      if (!text.includes('SKIP LOCKED') || !text.includes(`'${continueRunJob.name}'`)) return
      fetches += 1
      if (text.includes('j.group_id <> ALL')) pastFull += 1
    }),
  )
  const rows = 400
  const file = `name\n${Array.from({ length: rows }, (_, row) => `Place ${row}`).join('\n')}\n`
  await w.org.owner.post(`${w.org.path}/records/locations/import`, file, { 'content-type': 'text/csv' })
  t.is((await ended(other, others.id, await start(t, other, others.id))).status, 'ok')
  t.is((await endedRuns(w, w.org, flow.id, rows)).length, 50)
  t.log(`${fetches} fetches, ${pastFull} past a full workspace`)
  // A fetch for each job would be 400 and more; the number in each depends on the load of the machine.
  t.true(fetches < rows * 0.8, `${fetches} fetches for ${rows} jobs`)
  t.true(pastFull < rows / 10, `${pastFull} fetches past a workspace without free slots`)
})
