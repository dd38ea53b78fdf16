import test from 'ava'
import { callKontor } from '#test/bin/call.ts'
import { refuseJobFiles } from '#test/platform/jobs/rows.ts'
import { eventually } from '#test/support/eventually.ts'
import { createOrg } from '#test/support/factories.ts'
import { hurry } from '#test/support/hurry.ts'
import { countDeadLetters, retryJobsNow } from '#test/support/rows.ts'
import { type World, world } from '#test/support/world.ts'

const exportPath = (w: World, path = w.org.path) => `${path}/records/locations/export`

/** Exports that fail for good: one whose caller waits and gets 500, and one whose caller got 202 and has not asked since. */
async function failTwoExports(w: World) {
  const accept = await refuseJobFiles(w.db)
  const before = await countDeadLetters(w.db)
  const [answer] = await Promise.all([
    w.org.owner.get(exportPath(w)),
    eventually(async () => {
      await retryJobsNow(w.db)
      w.worker.pools.pollAll()
      return (await countDeadLetters(w.db)) === before + 1
    }),
  ])
  const { data } = await w.org.owner.get(exportPath(w), { prefer: 'respond-async' })
  await hurry(w, data.job_id)
  await eventually(async () => (await countDeadLetters(w.db)) === before + 2)
  await accept()
  return { answer, unasked: data.job_id as string }
}

test('jobs: list names the workspace of each failed job and sums them by kind and error', async (t) => {
  const w = await world()
  t.teardown(w.close)
  const { answer, unasked } = await failTwoExports(w)
  t.is(answer.status, 500)
  const { json } = await callKontor(w, 'jobs', 'list', '--json')
  t.like(json.failures[0], { job: 'records.export', count: 2, answered: 1, workspaces: 1 })
  t.regex(json.failures[0].error, /no file today/)
  t.deepEqual(
    json.failed.map(({ id, workspace, answered }: { id: string; workspace: string; answered: boolean }) => [
      id === unasked,
      workspace,
      answered,
    ]),
    [
      [false, 'Acme', true],
      [true, 'Acme', false],
    ],
  )
  const { out } = await callKontor(w, 'jobs', 'list')
  t.regex(out, /^2 × +records\.export +1 workspace +1 answered +.*no file today$/m)
  t.regex(out, new RegExp(`^${unasked} +records\\.export +Acme `, 'm'))
  const other = await createOrg(w, 'Other')
  const empty = [
    ['--workspace', other.id],
    ['--workspace', 'Other'],
    ['--kind', 'records.import'],
    ['--since', '2099-01-01T00:00:00Z'],
  ]
  for (const filter of empty) t.deepEqual((await callKontor(w, 'jobs', 'list', ...filter, '--json')).json.failed, [], filter.join(' '))
  const full = [
    ['--workspace', 'Acme'],
    ['--kind', 'records.export'],
    ['--since', '1h'],
  ]
  for (const filter of full) t.is((await callKontor(w, 'jobs', 'list', ...filter, '--json')).json.failed.length, 2, filter.join(' '))
  await callKontor(w, 'jobs', 'discard', '--all')
})

test('jobs: retry leaves out what its caller was told has failed, unless --also-answered', async (t) => {
  const w = await world()
  t.teardown(w.close)
  const { unasked } = await failTwoExports(w)
  const { json } = await callKontor(w, 'jobs', 'retry', '--kind', 'records.export', '--json')
  t.deepEqual(json.retried, [unasked])
  t.is(json.skipped_answered.length, 1)
  t.is(await hurry(w, unasked), 'done')
  const [answered] = json.skipped_answered
  const refused = await callKontor(w, 'jobs', 'retry', '--id', answered)
  t.is(refused.code, 1)
  t.regex(refused.out, /^Retried: none\nSkipped, since the caller was told of the failure: .* --also-answered retries these too\.\n$/)
  t.deepEqual((await callKontor(w, 'jobs', 'retry', '--id', answered, '--also-answered', '--json')).json.retried, [answered])
  t.is(await hurry(w, answered), 'done')
})

test('jobs: a caller that reads the failure of its job was told of it', async (t) => {
  const w = await world()
  t.teardown(w.close)
  const { unasked } = await failTwoExports(w)
  t.like((await w.org.owner.get(`${w.org.path}/jobs/${unasked}`)).data, { status: 'failed', error: { code: 'INTERNAL' } })
  const { json } = await callKontor(w, 'jobs', 'retry', '--all', '--json')
  t.deepEqual([json.retried.length, json.skipped_answered.length], [0, 2])
  await callKontor(w, 'jobs', 'discard', '--all')
})

test('jobs: discard forgets a failed job, whose operation stays failed', async (t) => {
  const w = await world()
  t.teardown(w.close)
  const { unasked } = await failTwoExports(w)
  t.deepEqual((await callKontor(w, 'jobs', 'discard', '--id', unasked, '--json')).json, { discarded: [unasked] })
  t.is((await callKontor(w, 'jobs', 'list', '--json')).json.failed.length, 1)
  t.is((await callKontor(w, 'jobs', 'retry', '--id', unasked, '--json')).json.error.code, 'NOT_FOUND')
  t.is((await w.org.owner.get(`${w.org.path}/jobs/${unasked}`)).data.status, 'failed')
  t.is((await callKontor(w, 'jobs', 'discard', '--workspace', 'Acme', '--since', '1h', '--json')).json.discarded.length, 1)
})

test('jobs: a retry and a discard say which jobs they mean', async (t) => {
  const w = await world()
  t.teardown(w.close)
  for (const verb of ['retry', 'discard']) {
    for (const args of [[], ['--all', '--kind', 'records.export'], ['--id', w.org.id, '--all']]) {
      t.regex((await callKontor(w, 'jobs', verb, ...args)).err, /^Name one job by its id, or give --all/)
    }
    t.regex((await callKontor(w, 'jobs', verb, '--kind', 'records.exprt')).err, /^records\.exprt is no kind of job/)
    t.regex((await callKontor(w, 'jobs', verb, '--since', 'yesterday')).err, /^since must be an instant/)
    t.regex((await callKontor(w, 'jobs', verb, '--workspace', 'Nowhere')).err, /^There is no workspace Nowhere/)
  }
})
