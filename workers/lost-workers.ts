import { type ActiveJob, findActiveJobs, returnJobToQueue } from '#shared/platform/jobs/pgboss/active-jobs.ts'
import { countRefusal } from '#shared/platform/kernel/process/part.ts'
import { runAttempt, type WorkerServices } from '#workers/core/scope/attempt.ts'
import type { AnyHandler } from '#workers/platform/jobs/handler.ts'

const checkEveryMs = 1_000
/** A worker counts as lost after three missed heartbeats, of one every two seconds. pg-boss itself waits for at least ten seconds. */
const lostAfterMs = 6_000

/**
 * Watches the tracked jobs of these handlers for lost workers. Jobs of a lost worker return to their queue at once; a begun job with `once`
 * is failed here, which releases its gate slot. Time is measured by this process and only while the database answers, so neither differing
 * clocks nor a database crash makes a worker appear lost. Returns a function that stops the watch.
 */
export function watchLostWorkers(handlers: readonly AnyHandler[], services: WorkerServices): () => void {
  const watched = handlers.filter(({ job }) => job.tracked)
  if (watched.length === 0) return () => undefined
  const queues = watched.map(({ job }) => job.name)
  let heartbeats = new Map<string, { readonly heartbeat: string | null; readonly since: number }>()

  const check = async (): Promise<void> => {
    const active = await findActiveJobs(services.db, queues)
    const now = performance.now()
    const known = heartbeats
    heartbeats = new Map(
      active.map(({ id, heartbeat }) => {
        const before = known.get(id)
        return [id, before?.heartbeat === heartbeat ? before : { heartbeat, since: now }]
      }),
    )
    const isLost = ({ id }: ActiveJob) => now - (heartbeats.get(id)?.since ?? now) > lostAfterMs
    for (const job of active.filter(isLost)) await takeOver(job)
  }

  const takeOver = async (lost: ActiveJob): Promise<void> => {
    const handler = watched.find(({ job }) => job.name === lost.name)
    services.log.warn({ job: lost.name, job_id: lost.id }, 'worker lost')
    if (handler?.job.once && lost.begun) {
      const outcome = await runAttempt(handler, lost, AbortSignal.timeout(checkEveryMs * 10), services)
      if (outcome === 'ended') await services.jobQueue.boss.complete(lost.name, lost.id)
    } else if (await returnJobToQueue(services.db, lost)) services.jobQueue.signals.signalJobs(lost.name)
  }

  let isChecking = false
  let lastCheck = performance.now()
  const tick = (): void => {
    // If this process itself was paused, the known heartbeats are outdated.
    if (performance.now() - lastCheck > 3 * checkEveryMs) heartbeats.clear()
    lastCheck = performance.now()
    if (isChecking) return
    isChecking = true
    check()
      .catch((error: unknown) => {
        heartbeats.clear()
        if (!countRefusal(error)) services.log.warn({ err: error }, 'could not check for lost workers')
      })
      .finally(() => {
        isChecking = false
      })
  }
  // Check immediately: this process may replace a lost worker whose callers wait.
  tick()
  const timer = setInterval(tick, checkEveryMs)
  return () => clearInterval(timer)
}
