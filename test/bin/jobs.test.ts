import test from 'ava'
import { callKontor } from '#test/bin/call.ts'
import { readLog } from '#test/platform/jobs/operator/rows.ts'
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

test('jobs: list has the filters of the route, and show tells all of one job', async (t) => {
  const w = await world()
  t.teardown(w.close)
  const { answer, unasked } = await failTwoExports(w)
  t.is(answer.status, 500)
  const other = await createOrg(w, 'Other')
  const list = async (...options: string[]) => (await callKontor(w, 'jobs', 'list', '--kind', 'records.export', ...options, '--json')).json
  t.is((await list()).total, 2)
  const { jobs } = await list('--state', 'failed')
  t.is(jobs[0].id, unasked)
  t.like(jobs[0], { kind: 'records.export', pool: 'data', state: 'failed', workspace: w.org.id, why: null })
  t.regex(jobs[0].error.message, /no file today/)
  const { out, err } = await callKontor(w, 'jobs', 'list', '--state', 'failed', '--limit', '1')
  t.is(err, '')
  t.regex(out, new RegExp(`^${unasked} +records\\.export +failed +${w.org.id} .*INTERNAL: no file today$`, 'm'))
  t.regex(out, /^2 jobs match; the first 1 are shown$/m)
  const empty = [
    ['--workspace', other.id],
    ['--workspace', 'Other'],
    ['--state', 'done'],
    ['--from', '2099-01-01T00:00:00Z'],
    ['--to', '1h'],
    ['--error', 'something else'],
    ['--request-id', 'nobody'],
  ]
  for (const filter of empty) t.deepEqual((await list(...filter)).jobs, [], filter.join(' '))
  for (const filter of [
    ['--workspace', 'Acme'],
    ['--from', '1h'],
    ['--error', 'NO FILE'],
  ])
    t.is((await list(...filter)).total, 2, filter.join(' '))
  const shown = (await callKontor(w, 'jobs', 'show', unasked, '--json')).json
  t.deepEqual(shown.payload, { typeKey: 'locations', q: '[hidden]', filter: '[hidden]', sort: '[hidden]', dir: '[hidden]' })
  t.is(shown.attempts.length, 5)
  t.regex((await callKontor(w, 'jobs', 'show', unasked)).out, /^Attempts:$/m)
  const unknown = await callKontor(w, 'jobs', 'show', other.id, '--json')
  t.deepEqual([unknown.code, unknown.json.error.code], [1, 'NOT_FOUND'])
  await callKontor(w, 'jobs', 'discard', '--all')
})

test('jobs: retry leaves out what its caller was told has failed, unless --also-answered', async (t) => {
  const w = await world()
  t.teardown(w.close)
  const { unasked } = await failTwoExports(w)
  const { json } = await callKontor(w, 'jobs', 'retry', '--kind', 'records.export', '--json')
  t.deepEqual(json, { done: 1, skipped: 0, skipped_answered: 1 })
  t.is(await hurry(w, unasked), 'done')
  const [answered] = (await callKontor(w, 'jobs', 'list', '--state', 'failed', '--json')).json.jobs
  const { out } = await callKontor(w, 'jobs', 'retry', '--all')
  t.is(out, 'Retried: 0\nSkipped, since the caller was told of the failure: 1. --also-answered retries these too.\n')
  const refused = await callKontor(w, 'jobs', 'retry', '--id', answered.id)
  t.is(refused.code, 2)
  t.regex(refused.err, /^also_answered must be true: the caller of this job was told/)
  t.is((await callKontor(w, 'jobs', 'retry', answered.id, '--also-answered')).out, `Retried: ${answered.id}\n`)
  t.is(await hurry(w, answered.id), 'done')
})

test('jobs: a caller that reads the failure of its job was told of it', async (t) => {
  const w = await world()
  t.teardown(w.close)
  const { unasked } = await failTwoExports(w)
  t.like((await w.org.owner.get(`${w.org.path}/jobs/${unasked}`)).data, { status: 'failed', error: { code: 'INTERNAL' } })
  const { json } = await callKontor(w, 'jobs', 'retry', '--all', '--json')
  t.deepEqual([json.done, json.skipped_answered], [0, 2])
  await callKontor(w, 'jobs', 'discard', '--all')
})

test('jobs: discard puts a failed job away, cancel ends a waiting one, and both are in the log', async (t) => {
  const w = await world({}, ['schedule', 'data'])
  t.teardown(w.close)
  const { unasked } = await failTwoExports(w)
  t.deepEqual((await callKontor(w, 'jobs', 'discard', '--id', unasked, '--json')).json, { done: 1, skipped: 0, skipped_answered: 0 })
  t.is((await callKontor(w, 'jobs', 'list', '--state', 'failed', '--json')).json.total, 1)
  const again = await callKontor(w, 'jobs', 'retry', '--id', unasked, '--json')
  t.deepEqual([again.code, again.json.error.code], [2, 'VALIDATION_ERROR'])
  t.is((await w.org.owner.get(`${w.org.path}/jobs/${unasked}`)).data.status, 'failed')
  t.is((await callKontor(w, 'jobs', 'discard', '--workspace', 'Acme', '--from', '1h', '--json')).json.done, 1)
  await w.worker.pools.stop(1_000)
  const filed: string[] = []
  for (let index = 0; index < 11; index++) filed.push((await w.org.owner.get(exportPath(w), { prefer: 'respond-async' })).data.job_id)
  const refused = await callKontor(w, 'jobs', 'cancel', '--kind', 'records.export')
  t.is(refused.code, 2)
  t.regex(refused.err, /^11 jobs match, which is more than 10: add --yes to cancel them/)
  t.is((await callKontor(w, 'jobs', 'cancel', filed[0] ?? '')).out, `Cancelled: ${filed[0]}\n`)
  t.is((await callKontor(w, 'jobs', 'cancel', '--kind', 'records.export')).out, 'Cancelled: 10\n')
  t.is((await callKontor(w, 'jobs', 'list', '--state', 'cancelled', '--kind', 'records.export', '--json')).json.total, 13)
  t.deepEqual(await readLog(w.db), ['jobs.discard 1', 'jobs.discard 1', 'jobs.cancel 1', 'jobs.cancel 10'])
})

test('jobs: an action says which jobs it means', async (t) => {
  const w = await world()
  t.teardown(w.close)
  for (const verb of ['retry', 'cancel', 'discard']) {
    for (const args of [[], ['--all', '--kind', 'records.export'], ['--id', w.org.id, '--all']]) {
      t.regex((await callKontor(w, 'jobs', verb, ...args)).err, /^Name one job by its id, or give --all/)
    }
    t.regex((await callKontor(w, 'jobs', verb, '--kind', 'records.exprt')).err, /^kind must be the name of a job/)
    t.regex((await callKontor(w, 'jobs', verb, '--from', 'yesterday')).err, /^from must be an instant/)
    t.regex((await callKontor(w, 'jobs', verb, '--workspace', 'Nowhere')).err, /^There is no workspace Nowhere/)
    t.regex((await callKontor(w, 'jobs', verb, '--state', 'done')).err, /^filter\.state must be /)
  }
})
