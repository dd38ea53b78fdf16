import test, { type ExecutionContext } from 'ava'
import { storeStoppedJobs } from '#shared/platform/jobs/pgboss/counts/stopped-jobs.ts'
import { newId } from '#shared/platform/kernel/ids.ts'
import { followLog } from '#test/core/operators/rows.ts'
import {
  addDeadLetter,
  addFailures,
  addLiveWorker,
  addOperation,
  deferQueuedJob,
  describeOperation,
  holdJob,
  markAnswered,
} from '#test/platform/jobs/operator/rows.ts'
import { fileExport, operatorOf } from '#test/platform/jobs/operator/support.ts'
import { eventually } from '#test/support/eventually.ts'
import { type ConsoleVisit, createOperator, openPage, pressButton, visitConsole } from '#test/support/operators.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const shared = shareWorld(test, {}, { pools: ['schedule'] })

/** A world with a session of an operator in its console. */
async function enter(readOnly = false): Promise<{ w: World; visit: ConsoleVisit; open: (path: string) => ReturnType<typeof openPage> }> {
  const w = await shared()
  const visit = await visitConsole(w, (await createOperator(w, readOnly)).id)
  return { w, visit, open: (path) => openPage(w, visit, path) }
}

const address = (path: string, query: Readonly<Record<string, string>>) => `${path}?${new URLSearchParams(query)}`

/** The jobs that a page leads to from its table. */
const listed = (text: string): (string | undefined)[] =>
  [...text.matchAll(/<td><bdi><a href="\/operator\/jobs\/([\w-]{36})"/g)].map(([, id]) => id)

const buttons = (text: string): (string | undefined)[] =>
  [...text.matchAll(/<button type="submit"[^>]*>([^<]+)</g)].map(([, label]) => label).filter((label) => label !== 'Sign out')

/** The value of a field of the form. */
const fieldValue = (text: string, name: string): string | undefined =>
  new RegExp(`<input id="${name}"[^>]* value="([^"]*)"`).exec(text)?.[1] ??
  new RegExp(`<select id="${name}"[\\s\\S]*?<option value="([^"]*)" selected`).exec(text)?.[1]

const linkOf = (text: string, label: string): string | undefined =>
  new RegExp(`href="([^"]+)">${label}<`).exec(text)?.[1]?.replaceAll('&amp;', '&')

/** A failed job with what is kept of it. */
async function failedJob({ db, org }: World, made: object = {}, stack = ''): Promise<string> {
  const error = { code: 'INTERNAL', message: 'The file store did not answer' }
  const id = await addOperation(db, { status: 'failed', workspaceId: org.id, createdAt: new Date().toISOString(), error, ...made })
  await addDeadLetter(db, id, org.id, stack)
  return id
}

test('job pages: the list takes every filter, keeps it in the form and on the next page, and leads to each job', async (t) => {
  const { w, open } = await enter()
  const principal = newId()
  const at = (minute: number) => `2021-01-01T00:0${minute}:00.000000Z`
  const make = (minute: number, made: object = {}) =>
    addOperation(w.db, {
      status: 'done',
      workspaceId: w.org.id,
      principalId: principal,
      requestId: 'a "request"',
      createdAt: at(minute),
      ...made,
    })
  const ids = [await make(0), await make(1), await make(2)]
  const failed = await make(3, { status: 'failed', error: { code: 'UNAVAILABLE', message: 'The <b>store</b> is away' } })
  const query = { kind: 'records.export', state: 'done', error: '', workspace: w.org.id, principal, request_id: 'a "request"' }
  const whole = { ...query, from: at(0), to: at(3), sort: 'created_at' }
  const all = await open(address('/operator/jobs', whole))
  t.is(all.status, 200)
  t.deepEqual(listed(all.text), ids)
  t.regex(all.text, /<p>3 jobs match\.<\/p>/)
  t.notRegex(all.text, /Next page/)
  for (const [name, value] of Object.entries(whole)) t.is(fieldValue(all.text, name), value.replaceAll('"', '&quot;'), name)
  const first = await open(address('/operator/jobs', { ...whole, limit: '2' }))
  t.deepEqual(listed(first.text), ids.slice(0, 2))
  t.regex(first.text, /3 jobs match/)
  const next = linkOf(first.text, 'Next page') ?? ''
  const last = await open(next)
  t.deepEqual([last.status, listed(last.text)], [200, ids.slice(2)])
  t.is(fieldValue(last.text, 'state'), 'done')
  t.is((await open(next.replace('state=done', 'state=failed'))).status, 400)
  const newest = await open(address('/operator/jobs', { workspace: w.org.id, error: 'STORE' }))
  t.deepEqual(listed(newest.text), [failed])
  t.regex(newest.text, /UNAVAILABLE: The &lt;b&gt;store&lt;\/b&gt; is away/)
  t.regex(newest.text, new RegExp(`<a href="/operator/workspaces/${w.org.id}">Acme</a>`))
  t.regex((await open(address('/operator/jobs', { request_id: 'nobody' }))).text, /No job matches/)
  t.deepEqual(listed((await open(address('/operator/jobs', { workspace: w.org.id, to: '1d' }))).text).length, 4)
  t.deepEqual(listed((await open(address('/operator/jobs', { workspace: w.org.id, from: '1d' }))).text), [])
})

test('job pages: a filter that does not fit is said beside its field, and the form keeps it', async (t) => {
  const { open } = await enter()
  for (const [name, value, message] of [
    ['kind', 'records.exprt', /^Kind must be the name of a job/],
    ['state', 'lost', /^State must be one of waiting, held/],
    ['error', 'ab', /^Part of the error must have at least 3/],
    ['workspace', 'Acme', /^Workspace \(id\) must be a valid uuid/],
    ['principal', '<i>', /^Principal \(id\) must be a valid uuid/],
    ['request_id', 'x'.repeat(201), /^Request \(id\) must have at most 200/],
    ['from', 'yesterday', /^Filed since must be/],
    ['to', '2026-02-30T00:00:00Z', /^Filed before must be/],
    ['sort', 'id', /^Order must be one of/],
  ] as const) {
    const { status, text } = await open(address('/operator/jobs', { [name]: value, limit: '7' }))
    t.is(status, 400, name)
    t.regex(new RegExp(`<p class="error" id="${name}-error">([^<]+)<`).exec(text)?.[1] ?? '', message)
    t.is(fieldValue(text, name), value.replace('<i>', '&lt;i&gt;'), name)
    t.deepEqual([listed(text), buttons(text)], [[], ['Search']])
    t.is(/<details open/.test(text), !['kind', 'state', 'error'].includes(name), name)
  }
  const damaged = await open(address('/operator/jobs', { state: 'done', cursor: 'x' }))
  t.is(damaged.status, 400)
  t.regex(damaged.text, /role="alert">cursor is damaged/)
  t.is(fieldValue(damaged.text, 'state'), 'done')
})

test('job pages: why a job waits stands first, and buttons are those of its state', async (t) => {
  const { w, visit, open } = await enter()
  const readLog = await followLog(w.db)
  const id = await fileExport(w.org)
  const page = async () => (await open(`/operator/jobs/${id}`)).text
  const waiting = await page()
  t.regex(waiting, /<p class="state"><bdi>It waits: no worker of pool data<\/bdi><\/p>/)
  t.true(waiting.indexOf('class="state"') < waiting.indexOf('<h2>'))
  t.deepEqual(buttons(waiting), ['Cancel'])
  t.regex(waiting, /<dt>q<\/dt><dd><code>\[hidden\]<\/code>/)
  t.regex(waiting, /<dt>typeKey<\/dt><dd><code>locations<\/code>/)
  t.regex(waiting, /None has begun/)
  t.regex(waiting, new RegExp(`href="/operator/jobs\\?principal=${w.org.ownerId}"`))
  await holdJob(w.db, id, true)
  t.regex(await page(), /It is held until 2100-01-01 00:00:00 UTC/)
  const wrong = await pressButton(w, visit, `/operator/jobs/${id}/discard`)
  t.is(wrong.status, 400)
  t.regex(wrong.text, /role="alert">discard needs a job that has failed; this one is held</)
  const cancelled = await pressButton(w, visit, `/operator/jobs/${id}/cancel`)
  t.deepEqual([cancelled.status, cancelled.headers.get('location')], [303, `/operator/jobs/${id}`])
  t.regex(await page(), /It is cancelled/)
  t.deepEqual(buttons(await page()), [])
  t.is((await pressButton(w, visit, `/operator/jobs/${id}/cancel`)).status, 400)
  const about = { job: id, kind: 'records.export', workspace: w.org.id }
  t.deepEqual(
    (await readLog()).map(({ action, subject }) => [action, subject]),
    [['jobs.cancel', about]],
  )
  t.is((await open('/operator/jobs/nothing')).status, 404)
})

test('job pages: jobs of which nothing is left are cancelled and discarded by their pages and routes', async (t) => {
  const { w, visit, open } = await enter()
  const { client } = await createOperator(w)
  const { owner, path, id: workspace } = w.org
  const readLog = await followLog(w.db)
  const steps = { nodes: [{ id: 't', type: 'trigger.manual', config: {}, position: { x: 0, y: 0 } }], edges: [] }
  const flow = (await owner.post(`${path}/flows`, { name: 'Held', ...steps })).data
  const held = async () => {
    const run = (await owner.post(`${path}/flows/${flow.id}/run`, {})).data.run_id
    const filter = { kind: 'flows.continue', state: 'waiting', workspace }
    const [job] = (await client.get(address('/v1/operator/jobs', filter))).data.jobs
    await deferQueuedJob(w.db, job.id, workspace)
    return { id: job.id, failed: async () => (await owner.get(`${path}/flows/${flow.id}/runs/${run}`)).data.status === 'failed' }
  }
  const lettered = async () => {
    const id = newId()
    await addDeadLetter(w.db, id, workspace, '', 'queues.intake')
    return id
  }
  const [byRoute, byPage] = [await held(), await held()]
  const before = (await client.get(`/v1/operator/jobs/${byRoute.id}`)).data
  t.like(before, { state: 'held', why: 'suspended' })
  const cancelled = await client.post(`/v1/operator/jobs/${byRoute.id}/cancel`)
  t.is(cancelled.status, 200, cancelled.text)
  t.deepEqual(cancelled.data, { ...before, state: 'cancelled', why: null })
  t.true(await byRoute.failed())
  const pressed = await pressButton(w, visit, `/operator/jobs/${byPage.id}/cancel`)
  t.deepEqual([pressed.status, pressed.headers.get('location')], [303, '/operator/jobs?kind=flows.continue'])
  t.true(await byPage.failed())
  const letters = [await lettered(), await lettered()] as const
  t.like((await client.post(`/v1/operator/jobs/${letters[0]}/discard`)).data, { id: letters[0], state: 'cancelled' })
  const put = await pressButton(w, visit, `/operator/jobs/${letters[1]}/discard`)
  t.deepEqual([put.status, put.headers.get('location')], [303, '/operator/jobs?kind=queues.intake'])
  const gone = [byRoute.id, byPage.id, ...letters]
  for (const id of gone) t.is((await open(`/operator/jobs/${id}`)).status, 404)
  t.deepEqual(
    (await readLog()).map(({ action }) => action),
    ['jobs.cancel', 'jobs.cancel', 'jobs.discard', 'jobs.discard'],
  )
})

test('job pages: a failed job shows its attempts, its causes and its actions; a retry after an answer needs the checkbox', async (t) => {
  const { w, visit, open } = await enter()
  const id = await failedJob(w)
  const child = await addOperation(w.db, {
    status: 'done',
    job: 'records.import',
    workspaceId: w.org.id,
    createdAt: new Date().toISOString(),
  })
  await describeOperation(w.db, id, { error: 'disk full' })
  await describeOperation(w.db, child, { error: 'none', parentId: id })
  const failed = (await open(`/operator/jobs/${id}`)).text
  t.regex(failed, /It failed: INTERNAL<\/bdi><\/p>\s*<p><bdi>disk full/)
  t.regex(failed, /120 of 500<\/label>/)
  t.regex(failed, /worker-1:4711<\/bdi><\/td><td><bdi>disk full/)
  t.regex(failed, new RegExp(`href="/operator/jobs/${child}"`))
  t.regex((await open(`/operator/jobs/${child}`)).text, new RegExp(`What caused it</h2>\\s*<p><a href="/operator/jobs/${id}"`))
  t.deepEqual(buttons(failed), ['Retry', 'Discard'])
  t.notRegex(failed, /also_answered/)
  await markAnswered(w.db, id)
  t.regex((await open(`/operator/jobs/${id}`)).text, /name="also_answered" value="true" required/)
  const refused = await pressButton(w, visit, `/operator/jobs/${id}/retry`)
  t.is(refused.status, 400)
  t.regex(refused.text, /role="alert">also_answered must be true/)
  t.is((await pressButton(w, visit, `/operator/jobs/${id}/retry`, { also_answered: 'true' })).status, 303)
  const { show } = operatorOf(w)
  t.is((await show(id)).state, 'waiting')
  await pressButton(w, visit, `/operator/jobs/${id}/cancel`)
  const other = await failedJob(w)
  t.is((await pressButton(w, visit, `/operator/jobs/${other}/discard`)).status, 303)
  t.is((await show(other)).state, 'cancelled')
  const lost = await addOperation(w.db, { status: 'failed', workspaceId: w.org.id, createdAt: new Date().toISOString() })
  t.deepEqual(buttons((await open(`/operator/jobs/${lost}`)).text), ['Discard'], 'its payload is no longer kept')
})

test('job pages: an action to all that match shows their exact number first, then its job with its progress', async (t) => {
  const { w, visit, open } = await enter()
  const readLog = await followLog(w.db)
  const ids = [await failedJob(w), await failedJob(w), await failedJob(w)]
  const list = await open(address('/operator/jobs', { workspace: w.org.id, state: 'failed', from: '1h' }))
  t.deepEqual(buttons(list.text), ['Search', 'Retry all that have failed', 'Discard all that have failed'])
  t.deepEqual(buttons((await open(address('/operator/jobs', { workspace: w.org.id, state: 'done' }))).text), ['Search'])
  const confirm = await open(address('/operator/jobs/act', { action: 'discard', workspace: w.org.id, state: 'failed', from: '1h' }))
  t.deepEqual(buttons(confirm.text), ['Discard 3 jobs'])
  t.regex(confirm.text, new RegExp(`<dt>Workspace</dt><dd><bdi>Acme \\(${w.org.id}\\)`))
  const fields = Object.fromEntries(
    [...confirm.text.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]),
  )
  t.like(fields, { action: 'discard', expect: '3', workspace: w.org.id, state: 'failed' })
  const later = await failedJob(w)
  const differs = await pressButton(w, visit, '/operator/jobs/act', { ...fields, expect: '2' })
  t.is(differs.status, 400)
  t.regex(differs.text, /role="alert">expect must be about the number of jobs that match, 3, got 2</)
  t.deepEqual(buttons(differs.text), ['Discard 3 jobs'])
  const filed = await pressButton(w, visit, '/operator/jobs/act', fields)
  t.is(filed.status, 303)
  const at = filed.headers.get('location') ?? ''
  t.regex(at, /^\/operator\/jobs\/[\w-]{36}$/)
  await eventually(async () => /It is done/.test((await open(at)).text))
  const done = await open(at)
  t.regex(done.text, /<h1><bdi>jobs\.act #/)
  t.regex(done.text, /3 of 3<\/label>/)
  const { show } = operatorOf(w)
  for (const id of ids) t.is((await show(id)).state, 'cancelled')
  t.is((await show(later)).state, 'failed', 'it failed after the number was shown')
  const [entry, ...others] = await readLog()
  t.like(entry, { action: 'jobs.discard', count: 3 })
  t.deepEqual(others, [])
  t.regex((await open(address('/operator/jobs/act', { action: 'cancel', workspace: w.org.id }))).text, /No job matches/)
  for (const query of [{ action: 'cancel', state: 'failed' }, { action: 'stop' }, {}, { action: 'retry', workspace: 'x' }])
    t.is((await open(address('/operator/jobs/act', query as Record<string, string>))).status, 400, JSON.stringify(query))
  for (const wrong of [{ expect: 'all' }, { expect: '-1' }, { expect: '' }, { action: 'stop' }, { kind: 'no.kind' }])
    t.is((await pressButton(w, visit, '/operator/jobs/act', { ...fields, ...wrong })).status, 400, JSON.stringify(wrong))
})

test('job pages: a retry of all leaves out jobs whose caller was told, unless the checkbox includes them', async (t) => {
  const { w, visit, open } = await enter()
  const { show } = operatorOf(w)
  const id = await failedJob(w)
  await markAnswered(w.db, id)
  t.regex((await open(address('/operator/jobs/act', { action: 'retry', workspace: w.org.id }))).text, /name="also_answered"/)
  const retry = async (more: object) => {
    const fields = { action: 'retry', expect: '1', workspace: w.org.id, ...more }
    const at = (await pressButton(w, visit, '/operator/jobs/act', fields)).headers.get('location') ?? ''
    await eventually(async () => /It is done/.test((await open(at)).text))
    return (await show(id)).state
  }
  t.is(await retry({}), 'failed')
  t.is(await retry({ also_answered: 'true' }), 'waiting')
  await pressButton(w, visit, `/operator/jobs/${id}/cancel`)
})

test('job pages: 10,000 jobs are counted in the list, and more of them before an action', async (t) => {
  const { w, open } = await enter()
  const requestId = newId()
  await addFailures(w.db, requestId, 10_000)
  const list = async () => (await open(address('/operator/jobs', { request_id: requestId }))).text
  const confirm = async () => buttons((await open(address('/operator/jobs/act', { action: 'discard', request_id: requestId }))).text)
  t.regex(await list(), /<p>10,000 jobs match\.<\/p>/)
  t.deepEqual(await confirm(), ['Discard 10,000 jobs'])
  await addFailures(w.db, requestId, 1)
  t.regex(await list(), /<p>10000\+ jobs match\.<\/p>/)
  t.deepEqual(await confirm(), ['Discard 10,001 jobs'])
})

test('job pages: a read-only operator sees jobs and no buttons', async (t) => {
  const { w, open } = await enter(true)
  const id = await failedJob(w)
  const job = await open(`/operator/jobs/${id}`)
  t.deepEqual([job.status, buttons(job.text)], [200, []])
  t.regex(job.text, /You are a read-only operator/)
  const list = await open(address('/operator/jobs', { workspace: w.org.id }))
  t.deepEqual([listed(list.text), buttons(list.text)], [[id], ['Search']])
  const act = await open(address('/operator/jobs/act', { action: 'discard', workspace: w.org.id }))
  t.deepEqual([act.status, buttons(act.text)], [200, []])
  t.regex(act.text, /You are a read-only operator/)
})

test('job pages: kinds and workspaces lead into the list of their jobs', async (t) => {
  const { w, open } = await enter()
  const id = await failedJob(w)
  await storeStoppedJobs(w.api.services.database)
  const kind = await open('/operator/kinds/records.export')
  const ofKind = linkOf(kind.text, '\\d+ failed') ?? ''
  t.is(ofKind, '/operator/jobs?kind=records.export&state=failed')
  t.true(listed((await open(ofKind)).text).includes(id))
  t.regex((await open('/operator/kinds')).text, /<td class="number"><a href="\/operator\/jobs\?kind=records\.export&amp;state=failed">/)
  const ofWorkspace = linkOf((await open(`/operator/workspaces/${w.org.id}`)).text, 'Jobs: failed') ?? ''
  t.deepEqual(listed((await open(ofWorkspace)).text), [id])
})

/** Asserts that no page shows a text. */
async function showsNowhere(
  t: ExecutionContext,
  open: (path: string) => ReturnType<typeof openPage>,
  paths: readonly string[],
  secret: string,
) {
  for (const path of paths) {
    const { status, text } = await open(path)
    t.is(status, 200, path)
    t.false(text.includes(secret), path)
  }
}

test('job pages: no page shows values of payloads, or of errors more than code and message', async (t) => {
  const { w, visit, open } = await enter()
  const secret = 'hunter2-planted'
  const { owner, path } = w.org
  await w.visitor.post('/v1/auth/password/reset', { email: `${secret}@example.com` })
  const filed = [
    await owner.post(`${path}/functions`, { name: 'F', source: `const handler = () => '${secret}'` }, { prefer: 'respond-async' }),
    await owner.get(`${path}/records/locations/export?q=${secret}`, { prefer: 'respond-async' }),
  ]
  for (const { status } of filed) t.is(status, 202)
  const error = { code: 'INTERNAL', message: 'The file store did not answer', details: { value: secret } }
  const failed = await failedJob(w, { error }, secret)
  await addLiveWorker(w.db)
  const { jobs } = await operatorOf(w).list({ state: 'waiting' })
  t.true(jobs.length >= 2)
  const ids = [failed, ...jobs.map(({ id }) => id)]
  const paths = [
    ...['', '/overview', '/kinds', '/kinds/records.export', '/jobs', '/jobs?state=failed', '/jobs/act?action=cancel'],
    ...['/jobs/act?action=retry', '/workers', '/schedules', '/use', '/mails', '/log'],
    ...ids.map((id) => `/jobs/${id}`),
  ].map((one) => `/operator${one}`)
  await showsNowhere(t, open, paths, secret)
  for (const id of ids.slice(1)) {
    const refused = await pressButton(w, visit, `/operator/jobs/${id}/retry`)
    t.is(refused.status, 400)
    t.false(refused.text.includes(secret))
    await pressButton(w, visit, `/operator/jobs/${id}/cancel`)
  }
  await showsNowhere(t, open, paths, secret)
})
