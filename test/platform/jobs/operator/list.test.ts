import test from 'ava'
import type { JobFilter } from '#shared/platform/jobs/operator/filter.ts'
import { newId } from '#shared/platform/kernel/ids.ts'
import {
  addLiveWorker,
  addManyOperations,
  addOperation,
  deferQueuedJob,
  holdJob,
  readEnvelopes,
} from '#test/platform/jobs/operator/rows.ts'
import { fileExport, operatorOf } from '#test/platform/jobs/operator/support.ts'
import { eventually } from '#test/support/eventually.ts'
import { createOrg } from '#test/support/factories.ts'
import { setWorkspaceStatus } from '#test/support/rows.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { world } from '#test/support/world.ts'

const shared = shareWorld(test)

test('operator list: every filter finds what it names, and nothing else', async (t) => {
  const w = await shared()
  const { list } = operatorOf(w)
  const [org, other] = [await createOrg(w, 'Listed'), await createOrg(w, 'Other')]
  const principal = newId()
  const at = (minute: number) => `2020-01-01T00:${String(minute).padStart(2, '0')}:00.000000Z`
  const make = (minute: number, made: object) => addOperation(w.db, { status: 'done', workspaceId: org.id, createdAt: at(minute), ...made })
  const failure = { code: 'UNAVAILABLE', message: 'The 100% disk_full store is away' }
  const ids = {
    done: await make(0, { principalId: principal }),
    failed: await make(1, { status: 'failed', error: failure, job: 'records.import' }),
    other: await make(2, { workspaceId: other.id, requestId: 'the request' }),
    platform: await make(3, { workspaceId: null, job: 'workspaces.set-up' }),
  }
  const window = { from: at(0), to: at(4) }
  const cases: readonly (readonly [JobFilter, readonly (keyof typeof ids)[]])[] = [
    [{}, ['platform', 'other', 'failed', 'done']],
    [{ kind: 'records.import' }, ['failed']],
    [{ kind: 'mail.send' }, []],
    [{ state: 'failed' }, ['failed']],
    [{ state: 'done' }, ['platform', 'other', 'done']],
    [{ state: 'cancelled' }, []],
    [{ state: 'waiting' }, []],
    [{ state: 'held' }, []],
    [{ state: 'running' }, []],
    [{ workspace: other.id }, ['other']],
    [{ workspace: other.id, kind: 'records.import' }, []],
    [{ principal }, ['done']],
    [{ request_id: 'the request' }, ['other']],
    [{ request_id: 'the reques' }, []],
    [{ error: 'unavail' }, ['failed']],
    [{ error: '100% DISK' }, ['failed']],
    [{ error: 'disk_' }, ['failed']],
    [{ error: '100_ disk' }, []],
    [{ error: 'UNAVAIL', state: 'done' }, []],
    [{ from: at(1), to: at(3) }, ['other', 'failed']],
    [{ from: '2020-01-01T01:02:00+01:00' }, ['platform', 'other']],
  ]
  for (const [filter, expected] of cases) {
    const { jobs, total } = await list({ ...window, ...filter })
    t.deepEqual(
      jobs.map(({ id }) => id),
      expected.map((name) => ids[name]),
      JSON.stringify(filter),
    )
    t.is(total, expected.length, JSON.stringify(filter))
  }
  const rising = await list(window, { sort: 'created_at' })
  t.deepEqual(
    rising.jobs.map(({ id }) => id),
    Object.values(ids),
  )
  t.like(rising.jobs[1], {
    kind: 'records.import',
    pool: 'data',
    state: 'failed',
    workspace: org.id,
    error: failure,
    created_at: at(1),
    progress: null,
    why: null,
  })
})

test('operator list: pages follow each other in both orders, and a total is exact up to 10,000', async (t) => {
  const w = await shared()
  const { list } = operatorOf(w)
  const createdAt = '2019-01-01T00:00:00.000000Z'
  const ids: string[] = []
  for (let index = 0; index < 5; index++) ids.push(await addOperation(w.db, { status: 'done', createdAt }))
  const window = { from: createdAt, to: '2019-01-01T00:00:01Z' }
  for (const [sort, expected] of [
    ['created_at', ids],
    ['-created_at', ids.toReversed()],
  ] as const) {
    const seen: string[] = []
    for (let after: Awaited<ReturnType<typeof list>>['next'] | undefined; after !== null; ) {
      const page = await list(window, { sort, limit: 2, after })
      seen.push(...page.jobs.map(({ id }) => id))
      t.is(page.total, 5)
      after = page.next
    }
    t.deepEqual(seen, expected)
  }
  const many = { from: '2018-01-01T00:00:00Z', to: '2018-01-02T00:00:00Z' }
  const add = (count: number) => addManyOperations(w.db, count)
  await add(10_000)
  t.is((await list(many)).total, 10_000)
  await add(1)
  t.is((await list(many)).total, '10000+')
})

test('operator list: what a filter must be is said', async (t) => {
  const { list } = operatorOf(await shared())
  await t.throwsAsync(list({ kind: 'records.exprt' }), { message: /^kind must be the name of a job, .*got records\.exprt/ })
  await t.throwsAsync(list({ from: 'yesterday' }), { message: /^from must be an instant/ })
  await t.throwsAsync(list({ to: '2026-02-30T00:00:00Z' }), { message: /^to must be an instant/ })
})

test('operator list: a job says why it waits, by states that change', async (t) => {
  const w = await world({}, ['schedule'])
  t.teardown(w.close)
  const { list, show, act } = operatorOf(w)
  const ids = [await fileExport(w.org), await fileExport(w.org), await fileExport(w.org)]
  const why = async () => Promise.all(ids.map(async (id) => (await show(id)).why))
  t.deepEqual(await why(), ['no worker of pool data', 'no worker of pool data', 'no worker of pool data'])
  // A process of the pool lives, and has not begun any of them.
  await addLiveWorker(w.db)
  t.deepEqual(await why(), ['others are before it', 'others are before it', 'its workspace has 2 of 2'])
  t.is((await list({ state: 'waiting', kind: 'records.export' })).total, 3)
  await holdJob(w.db, ids[0] ?? '', true)
  t.is((await show(ids[0] ?? '')).why, 'held until 2100-01-01T00:00:00.000000Z')
  t.deepEqual(
    (await list({ state: 'held' })).jobs.map(({ id }) => id),
    [ids[0]],
  )
  await holdJob(w.db, ids[0] ?? '', false)
  await act('cancel', ids[0] ?? '')
  t.is((await show(ids[0] ?? '')).state, 'cancelled')
  await eventually(async () => (await show(ids[2] ?? '')).why === 'others are before it')
  for (const id of ids.slice(1)) await act('cancel', id)
  t.deepEqual(
    (await list({ state: 'cancelled' })).jobs.map(({ id }) => id),
    ids.toReversed(),
  )
  t.is((await list({ state: 'waiting', kind: 'records.export' })).total, 0)
})

test('operator list: values of payloads are hidden, except ids and keys', async (t) => {
  const w = await world({}, ['schedule'])
  t.teardown(w.close)
  const { show, list, act } = operatorOf(w)
  const secret = 'hunter2-planted'
  const { owner, path } = w.org
  await w.visitor.post('/v1/auth/password/reset', { email: `${secret}@example.com` })
  const filed = [
    await owner.post(`${path}/functions`, { name: 'F', source: `const handler = () => '${secret}'` }, { prefer: 'respond-async' }),
    await owner.post(
      `${path}/records/locations/batch`,
      { operations: [{ op: 'create', values: { name: secret } }], atomic: true },
      { prefer: 'respond-async' },
    ),
    await owner.get(`${path}/records/locations/export?q=${secret}`, { prefer: 'respond-async' }),
  ]
  for (const { status } of filed) t.is(status, 202)
  t.true((await readEnvelopes(w.db)).includes(secret), 'the secret is planted')
  const found = await list({ state: 'waiting' })
  t.true(found.jobs.length >= filed.length)
  for (const { id } of found.jobs) t.false(JSON.stringify(await show(id)).includes(secret), id)
  t.false(JSON.stringify(found).includes(secret))
  t.deepEqual((await show(filed[1]?.data.job_id)).payload, { typeKey: 'locations', operations: '[hidden]', atomic: true })
  for (const { id } of found.jobs) await act('cancel', id)
})

test('operator list: a job of a suspended workspace is held', async (t) => {
  const w = await world({}, ['schedule', 'flows', 'data'])
  t.teardown(w.close)
  const { list, show, act } = operatorOf(w)
  const { owner, path } = w.org
  const steps = { nodes: [{ id: 't', type: 'trigger.manual', config: {}, position: { x: 0, y: 0 } }], edges: [] }
  const flow = (await owner.post(`${path}/flows`, { name: 'Flow', ...steps })).data
  await w.worker.pools.stop(1_000)
  t.is((await owner.post(`${path}/flows/${flow.id}/run`, {})).status, 202)
  await setWorkspaceStatus(w.db, w.org.id, 'suspended')
  const [waiting] = (await list({ state: 'waiting', kind: 'flows.continue', workspace: w.org.id })).jobs
  t.truthy(waiting)
  t.is((await list({ kind: 'flows.continue', workspace: w.org.id.toUpperCase() })).total, 1, 'an id in capitals')
  await deferQueuedJob(w.db, waiting?.id ?? '', w.org.id)
  t.like((await list({ state: 'held', workspace: w.org.id })).jobs[0], { id: waiting?.id, state: 'held', why: 'suspended' })
  t.like((await show(waiting?.id ?? '')).payload, { workspaceId: w.org.id })
  await act('cancel', waiting?.id ?? '')
  t.is((await list({ state: 'held' })).total, 0)
  await setWorkspaceStatus(w.db, w.org.id, 'active')
  const [run] = (await owner.get(`${path}/flows/runs?flow=${flow.id}`)).data.runs
  t.is(run.status, 'failed')
  t.regex(run.error, /^CANCELLED: /)
})
