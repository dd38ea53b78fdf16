import test, { type ExecutionContext } from 'ava'
import { platformCause } from '#shared/platform/kernel/cause.ts'
import { queueMail } from '#shared/platform/mail/outbox.ts'
import { release } from '#shared/release.ts'
import { callKontor } from '#test/bin/call.ts'
import { followLog } from '#test/core/operators/rows.ts'
import { pausing } from '#test/platform/jobs/pausing.ts'
import { deletePauses, emptyPoolPause } from '#test/platform/jobs/rows.ts'
import { createAccount } from '#test/support/account.ts'
import { eventually } from '#test/support/eventually.ts'
import { mailedToken, mailsTo } from '#test/support/mailbox.ts'
import { createOperator } from '#test/support/operators.ts'
import { world } from '#test/support/world.ts'
import { registry } from '#workers/metrics.ts'

const cause = platformCause('test')

async function open(t: ExecutionContext) {
  const w = await world()
  t.teardown(async () => {
    await deletePauses(w.db)
    await w.close()
  })
  const { client } = await createOperator(w)
  const post = async (path: string) => {
    const { status, data, body } = await client.post(`/v1/operator/${path}`)
    return status === 200 ? data : { status, code: body.error.code, message: body.error.message }
  }
  return { ...w, w, post, readLog: await followLog(w.db) }
}

test('operator pauses: an action that does not fit is 400 and leaves no entry in the log', async (t) => {
  const { post, readLog } = await open(t)
  const refused = (message: string) => ({ status: 400, code: 'VALIDATION_ERROR', message })
  const missing = (message: string) => ({ status: 404, code: 'NOT_FOUND', message })
  const kind = 'jobs/kinds/records.import'
  t.deepEqual(await post(`${kind}/resume`), refused('The kind records.import is not paused'))
  t.deepEqual(await post(`${kind}/pause`), { target: 'kind', name: 'records.import', paused: true, kinds: ['records.import'] })
  t.deepEqual(await post(`${kind}/pause`), refused('The kind records.import is paused already'))
  t.deepEqual(await post('pools/data/resume'), refused('The pool data is not paused; paused kinds: records.import'))
  t.true((await post('pools/data/pause')).kinds.includes('records.export'))
  t.deepEqual(await post('pools/data/pause'), refused('The pool data is paused already'))
  t.deepEqual(
    await post('jobs/kinds/records.export/resume'),
    refused('The kind records.export is not paused, its pool data is: resume the pool'),
  )
  t.deepEqual(await post(`${kind}/resume`), { target: 'kind', name: 'records.import', paused: false, kinds: ['records.import'] })
  t.false((await post('pools/data/resume')).paused)
  t.deepEqual(await post('jobs/kinds/records.imports/pause'), missing('records.imports is no kind of job; kontor jobs lists them'))
  t.deepEqual(await post('pools/date/pause'), missing('date is no pool; the pools are functions, flows, data, mail, webhooks, schedule'))
  t.deepEqual(
    (await readLog()).map(({ action, subject }) => [action, subject]),
    [
      ['jobs.pause', { kind: 'records.import' }],
      ['jobs.pause', { pool: 'data' }],
      ['jobs.resume', { kind: 'records.import' }],
      ['jobs.resume', { pool: 'data' }],
    ],
  )
})

test('operator pauses: kinds that cannot be paused say so, and a pause of their pool leaves them out', async (t) => {
  const { w, post, org } = await open(t)
  const fixed = ['due.maintenance', 'mail.accounts', 'people.mail-reset']
  for (const kind of fixed) {
    const { status, message } = await post(`jobs/kinds/${kind}/pause`)
    t.is(status, 400)
    t.true(message.startsWith(`The kind ${kind} cannot be paused: `), message)
    for (const other of fixed) t.true(message.includes(other), message)
  }
  for (const pool of ['mail', 'schedule']) {
    const { kinds } = await post(`pools/${pool}/pause`)
    t.true(kinds.length > 0)
    t.deepEqual(
      kinds.filter((kind: string) => fixed.includes(kind)),
      [],
    )
  }
  await pausing(w).known('mail.send', true)
  await createAccount(w, 'ann@example.com', 'Ann')
  const { database, jobQueue } = w.api.services
  await queueMail({ db: database, jobQueue, cause }, { workspaceId: null, kind: 'test', to: 'bob@example.com', subject: 'A', text: 'B' })
  t.is((await w.visitor.post('/v1/auth/forgot', { email: 'ann@example.com' })).status, 204)
  t.is((await org.owner.post(`${org.path}/members`, { email: 'cleo@example.com' })).status, 201)
  const drained = { ...w, drain: async () => undefined }
  for (const address of ['ann@example.com', 'cleo@example.com'])
    await eventually(async () => (await mailsTo(drained, address)).length === 1)
  t.deepEqual(await mailsTo(drained, 'bob@example.com'), [])
  await post('pools/mail/resume')
  await post('pools/schedule/resume')
  await w.drain()
  t.is((await mailsTo(w, 'bob@example.com')).length, 1)
  t.truthy(await mailedToken(w, 'ann@example.com'))
})

test('operator pauses: the commands do the same, and status and the metric show pauses', async (t) => {
  const { w, readLog } = await open(t)
  const paused = await callKontor(w, 'jobs', 'pause', '--pool', 'mail')
  t.is(paused.code, 0, paused.err)
  t.regex(paused.out, /Paused: the pool mail\nNot paused, since they cannot be: .*mail\.accounts/)
  t.deepEqual((await callKontor(w, 'jobs', 'pause', 'records.import', '--json')).json, {
    target: 'kind',
    name: 'records.import',
    paused: true,
    kinds: ['records.import'],
  })
  const { out } = await callKontor(w, 'status')
  t.regex(out, /PAUSED: kind records\.import, since /)
  t.regex(out, /PAUSED: pool mail, since /)
  const gauge = await registry.getSingleMetricAsString('kontor_job_paused')
  for (const [kind, value] of [
    ['records.import', 1],
    ['mail.send', 1],
    ['mail.accounts', 0],
    ['records.export', 0],
  ])
    t.true(gauge.includes(`kontor_job_paused{kind="${kind}"} ${value}`), gauge)
  const twice = await callKontor(w, 'jobs', 'pause', 'records.import')
  t.deepEqual([twice.code, twice.err.includes('The kind records.import is paused already')], [2, true], twice.err)
  for (const args of [[], ['records.import', '--pool', 'mail']]) {
    const { code, err } = await callKontor(w, 'jobs', 'resume', ...args)
    t.true(code !== 0 && err.includes('Name one kind of job, or give --pool with one pool'), err)
  }
  t.is((await callKontor(w, 'jobs', 'resume', 'records.import')).out, 'Resumed: the kind records.import\n')
  t.is((await callKontor(w, 'jobs', 'resume', '--pool', 'mail')).code, 0)
  t.deepEqual(
    (await readLog()).map(({ action, subject }) => [action, subject]),
    [
      ['jobs.pause', { pool: 'mail' }],
      ['jobs.pause', { kind: 'records.import' }],
      ['jobs.resume', { kind: 'records.import' }],
      ['jobs.resume', { pool: 'mail' }],
    ],
  )
})

test('operator pauses: a release sets the kinds of paused pools to those that it has', async (t) => {
  const { w } = await open(t)
  const { pausePool, resumePool, pause, list } = pausing(w)
  await pausePool('data')
  await pause('records.import')
  const before = await list()
  await emptyPoolPause(w.db, 'data')
  t.notDeepEqual(await list(), before)
  await release(w.config.databaseUrl)
  t.deepEqual(await list(), before)
  await resumePool('data')
})
