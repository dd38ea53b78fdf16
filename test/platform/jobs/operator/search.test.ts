import test from 'ava'
import { jobs } from '#shared/features.ts'
import { type JobFilter, type JobSort, type JobState, jobSorts, jobStates } from '#shared/platform/jobs/operator/filter.ts'
import { newId } from '#shared/platform/kernel/ids.ts'
import { hourMs } from '#shared/platform/kernel/time/units.ts'
import { addJobs, deleteJobs, histories, listFailures, type MadeJob } from '#test/platform/jobs/operator/search-rows.ts'
import { operatorOf } from '#test/platform/jobs/operator/support.ts'
import { createOrg } from '#test/support/factories.ts'
import { world } from '#test/support/world.ts'

/** Numbers from 0 to 1 that a seed determines. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

const tracked = new Set(jobs.flatMap(({ name, tracked }) => (tracked ? [name] : [])))

/** A job as the list should show it. */
type ListedJob = MadeJob & { readonly state: JobState; readonly texts: readonly string[] }

const states: Readonly<Record<string, JobState | null>> = { ...histories.tracked, ...histories.untracked }

const listed = (job: MadeJob): ListedJob[] => {
  const state = states[job.history]
  const texts = job.history === 'letter' ? ['INTERNAL', job.message] : [job.code, job.message, job.attempt ?? '']
  return state ? [{ ...job, state, texts }] : []
}

/** Whether a job matches, as the contract says it. */
function matches(job: ListedJob, { kind, state, workspace, principal, request_id, error, from, to }: JobFilter): boolean {
  const at = Date.parse(job.at)
  return (
    (kind === undefined || job.name === kind) &&
    (state === undefined || job.state === state) &&
    (workspace === undefined || job.workspace === workspace) &&
    (principal === undefined || job.principal === principal) &&
    (request_id === undefined || job.request === request_id) &&
    (error === undefined || (job.state === 'failed' && job.texts.some((text) => text.toLowerCase().includes(error.toLowerCase())))) &&
    (from === undefined || at >= Date.parse(from)) &&
    (to === undefined || at < Date.parse(to))
  )
}

test('operator search: random filters find what a comparison with every job finds, in both orders and by pages', async (t) => {
  const w = await world({}, ['schedule'])
  t.teardown(async () => {
    await deleteJobs(w.db)
    await w.close()
  })
  // Maintenance would send deferred jobs to their queues.
  await w.worker.pools.stop(0)
  const { list } = operatorOf(w)
  const seed = Math.floor(Math.random() * 2 ** 32)
  t.log(`seed ${seed}`)
  const random = createRandom(seed)
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T
  const workspaces = [w.org.id, (await createOrg(w, 'Searched')).id]
  const principals = [newId(), newId(), newId()]
  const kinds = ['records.export', 'functions.run', 'queues.press', 'mail.send', 'flows.start']
  const requests = ['one', 'two', 'three']
  const texts = ['The 100% disk_full store', 'Connection REFUSED by 10.0.0.1', 'back\\slash', 'ÄPFEL fehlen', 'no such function']
  const start = Date.now() - 20 * hourMs
  const made = Array.from({ length: 500 }, (): MadeJob => {
    const name = pick(kinds)
    // Many are filed in the same millisecond.
    const ms = start + Math.floor(random() * 60) * 1_000
    const digits = Array.from({ length: 18 }, () => Math.floor(random() * 16).toString(16)).join('')
    const time = ms.toString(16).padStart(12, '0')
    return {
      id: `${time.slice(0, 8)}-${time.slice(8)}-7${digits.slice(0, 3)}-8${digits.slice(3, 6)}-${digits.slice(6)}`,
      name,
      history: pick(Object.keys(tracked.has(name) ? histories.tracked : histories.untracked)),
      workspace: pick(workspaces),
      principal: pick([null, ...principals]),
      request: pick(requests),
      at: new Date(ms).toISOString(),
      code: pick(['UNAVAILABLE', 'TIMEOUT', 'INTERNAL']),
      message: pick(texts),
      attempt: pick([null, ...texts]),
    }
  })
  await addJobs(w.db, made)
  const all = made.flatMap(listed)
  for (const history of Object.keys(states))
    t.true(
      made.some((job) => job.history === history),
      history,
    )
  const failed = all.filter(({ state }) => state === 'failed')
  t.deepEqual(await listFailures(w.db), failed.map(({ id }) => id).toSorted(), 'the narrow rows are those of the failures')

  const parts = ['disk', '100%', 'disk_f', 'refused', 'K\\S', 'äpf', 'INTERNAL', 'internal', 'unavail', 'xyz', 'ion', ' by']
  let found = 0
  for (let round = 0; round < 400; round++) {
    const has = () => random() < 0.3
    const filter: JobFilter = {
      ...(has() && { kind: pick(kinds) }),
      ...(has() && { state: pick(jobStates) }),
      ...(has() && { workspace: pick(workspaces) }),
      ...(has() && { principal: pick(principals) }),
      ...(has() && { request_id: pick(requests) }),
      ...(has() && { error: pick(parts) }),
      ...(has() && { from: pick(all).at }),
      // The world has waiting jobs of its own, all later.
      to: has() ? pick(all).at : new Date(start + hourMs).toISOString(),
    }
    const sort: JobSort = pick(jobSorts)
    const order = sort === 'created_at' ? 1 : -1
    const expected = all
      .filter((job) => matches(job, filter))
      .sort((a, b) => order * (a.at < b.at ? -1 : a.at > b.at ? 1 : a.id < b.id ? -1 : 1))
    const seen: string[] = []
    for (let after: Awaited<ReturnType<typeof list>>['next'] | undefined; after !== null; ) {
      const page = await list(filter, { sort, limit: 60, after })
      seen.push(...page.jobs.map(({ id }) => id))
      t.is(page.total, expected.length, JSON.stringify({ filter, sort }))
      after = page.next
    }
    t.deepEqual(
      seen,
      expected.map(({ id }) => id),
      JSON.stringify({ filter, sort }),
    )
    found += expected.length
  }
  t.true(found > 1_000, 'the filters find something')
  await deleteJobs(w.db)
  t.deepEqual(await listFailures(w.db), [])
})
