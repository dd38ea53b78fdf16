import test from 'ava'
import { setUpWorkspaceJob } from '#shared/core/workspaces/jobs.ts'
import { createMember } from '#test/support/factories.ts'
import { countJobs, countRows } from '#test/support/rows.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const shared = shareWorld(test)

const cause = (actorId: string | null) => ({ actorId, actorType: 'user', requestId: 'test', depth: 0, kind: 'request', id: null }) as const

test('jobs: only the caller sees the result of a job; holders of org:update see the rest, and others nothing', async (t) => {
  const w = await shared()
  const [starter, keeper, other] = await Promise.all([
    createMember(w, w.org, [{ effect: 'allow', actions: ['records:read', 'records:export', 'records:import'] }]),
    createMember(w, w.org, [{ effect: 'allow', actions: ['org:update'] }]),
    createMember(w, w.org, [{ effect: 'allow', actions: ['records:*'] }]),
  ])
  const later = { prefer: 'respond-async' }
  const csv = { ...later, 'content-type': 'text/csv' }
  const imported = await starter.client.post(`${w.org.path}/records/locations/import`, 'name\nHome\n', csv)
  await w.drain()
  const exported = await starter.client.get(`${w.org.path}/records/locations/export`, later)
  await w.drain()
  const [ofImport, ofExport] = [imported, exported].map(({ data }) => `${w.org.path}/jobs/${data.job_id}`) as [string, string]

  const seen = await starter.client.get(ofImport)
  t.like(seen.data, { id: imported.data.job_id, kind: 'records.import', status: 'done', error: null, progress: { done: 1, total: 1 } })
  t.deepEqual(seen.data.result, { created: 1, updated: 0, unchanged: 0, failed: 0, errors: [], ignored_columns: [] })
  t.is((await starter.client.get(`${ofImport}/result`)).status, 404, 'it has no file')
  t.is((await starter.client.get(ofExport)).data.result, null)
  t.regex((await starter.client.get(`${ofExport}/result`)).text, /,Home,/)

  for (const { client } of [keeper, { client: w.org.owner }]) {
    const { result: _, ...rest } = seen.data
    const [first, file] = await Promise.all([client.get(ofImport), client.get(`${ofExport}/result`)])
    t.deepEqual(first.data, rest)
    t.is(file.status, 404)
  }
  for (const path of [ofImport, ofExport, `${ofExport}/result`]) t.is((await other.client.get(path)).status, 404)
  t.is((await starter.client.get(`${w.org.path}/jobs/not-an-id`)).status, 404)
})

test('jobs: only the caller sees the words of an error, which may hold what it sent', async (t) => {
  const w = await shared()
  const keeper = await createMember(w, w.org, [{ effect: 'allow', actions: ['org:update'] }])
  const starter = await createMember(w, w.org, [{ effect: 'allow', actions: ['records:create'] }])
  const operations = [{ op: 'create', values: { name: { secret: 612 } } }]
  const body = { operations, atomic: true }
  const { data } = await starter.client.post(`${w.org.path}/records/locations/batch`, body, { prefer: 'respond-async' })
  await w.drain()
  const errorFor = async ({ client }: { client: typeof w.org.owner }) => (await client.get(`${w.org.path}/jobs/${data.job_id}`)).data.error
  t.like(await errorFor(starter), { code: 'VALIDATION_ERROR' })
  t.regex((await errorFor(starter)).message, /values\.name/)
  t.is((await errorFor(keeper)).code, 'VALIDATION_ERROR')
  t.notRegex((await errorFor(keeper)).message, /values/)
})

test('jobs: callers that start the same work at once each get their own result', async (t) => {
  const w = await shared()
  const rights = { effect: 'allow', actions: ['records:read', 'records:export'] }
  const callers = await Promise.all([
    createMember(w, w.org, [rights]),
    createMember(w, w.org, [{ ...rights, fields: { deny: ['address'] } }]),
  ])
  await w.org.owner.post(`${w.org.path}/records/locations`, { values: { name: 'Home', address: 'Hidden Lane' } })
  const start = ({ client }: (typeof callers)[0]) => client.get(`${w.org.path}/records/locations/export`, { prefer: 'respond-async' })
  const jobs = (await Promise.all(callers.map(start))).map(({ data }) => `${w.org.path}/jobs/${data.job_id}`)
  await w.drain()
  const seen = await Promise.all(callers.flatMap(({ client }) => jobs.map((job) => client.get(`${job}/result`))))
  t.deepEqual(
    seen.map(({ status, text }) => [status, text.includes('Home'), text.includes('Hidden')]),
    [
      [200, true, true],
      [404, false, false],
      [404, false, false],
      [200, true, false],
    ],
  )
})

for (const atomic of [true, false])
  test(`jobs: a batch${atomic ? ' that is atomic' : ''} ends after its changes, and with all of them as progress`, async (t) => {
    const w = await shared()
    const { owner, path } = w.org
    const operations = Array.from({ length: 250 }, (_, index) => ({ op: 'create', values: { name: `place ${index}` } }))
    const batch = `${path}/records/locations/batch`
    const { data } = await owner.post(batch, { operations, atomic }, { prefer: 'respond-async' })
    await w.drain()
    const job = (await owner.get(`${path}/jobs/${data.job_id}`)).data
    t.is(job.status, 'done')
    t.deepEqual(job.progress, atomic ? null : { done: 250, total: 250 })
    t.true(job.result.results.every(({ record }: { record: { created_at: string } }) => record.created_at <= job.finished_at))
  })

test('jobs: a repeated call that does not wait gets the job of the first call with its present status', async (t) => {
  const w = await shared()
  const { owner, path } = w.org
  const repeat = (headers: object) =>
    owner.post(
      `${path}/records/locations/batch`,
      { operations: [{ op: 'create', values: { name: 'Home' } }] },
      { 'idempotency-key': 'b', ...headers },
    )
  const first = await repeat({})
  t.is(first.status, 200)
  const again = await repeat({ prefer: 'respond-async' })
  t.is(again.status, 202)
  t.is(again.data.status, 'done')
  t.deepEqual((await owner.get(`${path}/jobs/${again.data.job_id}`)).data.result, first.data)
})

test('jobs: a rolled-back write enqueues nothing', async (t) => {
  const w = await shared()
  const { jobQueue, database } = w.api.services
  await t.throwsAsync(
    database.transaction(async (tx) => {
      await jobQueue.enqueue(tx, setUpWorkspaceJob, { workspaceId: w.org.id, cause: cause(null) }, { workspaceId: w.org.id })
      throw new Error('no')
    }),
    { message: 'no' },
  )
  t.is(await countRows(w.db, 'operations', w.org.id), 0)
  t.is(await countJobs(w.db, setUpWorkspaceJob.name, w.org.id), 0)
})
