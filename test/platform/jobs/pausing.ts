import type { ExecutionContext } from 'ava'
import { jobs } from '#shared/features.ts'
import { pauseKind, pausePool, resumeKind, resumePool } from '#shared/platform/jobs/pauses/pause.ts'
import { listPauses } from '#shared/platform/jobs/pauses/store.ts'
import { eventually } from '#test/support/eventually.ts'
import type { World } from '#test/support/world.ts'

/** Pauses and resumes kinds and pools of a world as an operator. */
export function pausing({ api, worker }: Pick<World, 'api' | 'worker'>) {
  const { database, jobQueue } = api.services
  return {
    pause: (kind: string) => database.transaction((tx) => pauseKind(tx, jobQueue, jobs, kind)),
    resume: (kind: string) => database.transaction((tx) => resumeKind(tx, jobQueue, jobs, kind)),
    pausePool: (pool: string) => database.transaction((tx) => pausePool(tx, jobQueue, jobs, pool)),
    resumePool: (pool: string) => database.transaction((tx) => resumePool(tx, jobQueue, jobs, pool)),
    list: () => listPauses(database),
    /** Waits until the API and the worker of the world know whether the kind is paused. */
    known: (kind: string, isPaused: boolean) =>
      eventually(() => [jobQueue, worker.jobQueue].every(({ pauses }) => pauses.has(kind) === isPaused)),
  }
}

/** Pauses a kind until the test ends, or until the returned function is called, and waits until the processes of the world know it. */
export async function pauseUntilEnd(t: ExecutionContext, w: World, kind: string): Promise<() => Promise<void>> {
  const { pause, resume, known, list } = pausing(w)
  await pause(kind)
  await known(kind, true)
  const end = async () => {
    if ((await list()).some(({ target, name }) => target === 'kind' && name === kind)) await resume(kind)
    await known(kind, false)
  }
  t.teardown(end)
  return end
}
