import type { WorkerPool } from '#shared/platform/jobs/job.ts'
import { type ActiveJob, findActiveJobs, returnJobToQueue } from '#shared/platform/jobs/monitoring/active-jobs.ts'
import { handlers } from '#workers/handlers.ts'
import { runAttempt, type WorkerServices } from '#workers/platform/jobs/attempt.ts'

const lookEveryMs = 1_000
/** A worker touches its jobs every two seconds; whoever has missed three of them is gone. The queue itself waits for ten seconds and more. */
const lostAfterMs = 6_000

/**
 * Looks after what lost workers of these pools were doing for somebody who may wait for it. It goes back to its queue at once; only what had
 * begun and is not done again is ended here, since the slot that it holds is one that others wait for. Time is this process's own, and counts only while
 * the database is there, so neither a clock that differs nor a crash of the database makes a worker look lost.
 */
export function watchLostWorkers(services: WorkerServices, pools: readonly WorkerPool[]): () => void {
  const watched = handlers.filter(({ job }) => job.tracked && pools.includes(job.pool))
  if (watched.length === 0) return () => undefined
  const queues = watched.map(({ job }) => job.name)
  let beats = new Map<string, { readonly beat: string; readonly since: number }>()

  const look = async (): Promise<void> => {
    const active = await findActiveJobs(services.db, queues)
    const now = performance.now()
    const known = beats
    beats = new Map(
      active.map(({ id, beat }) => {
        const before = known.get(id)
        return [id, before?.beat === beat ? before : { beat, since: now }]
      }),
    )
    const isLost = ({ id }: ActiveJob) => now - (beats.get(id)?.since ?? now) > lostAfterMs
    for (const job of active.filter(isLost)) await takeOver(job)
  }

  const takeOver = async (lost: ActiveJob): Promise<void> => {
    const handler = watched.find(({ job }) => job.name === lost.name)
    services.log.warn({ job: lost.name, job_id: lost.id }, 'a worker is gone')
    if (handler?.job.once && lost.begun) {
      const outcome = await runAttempt(handler, lost, AbortSignal.timeout(lookEveryMs * 10), services)
      if (outcome === 'ended') await services.jobQueue.boss.complete(lost.name, lost.id)
    } else if (await returnJobToQueue(services.db, lost)) services.jobQueue.signals.signalJobs(lost.name)
  }

  let looking = false
  let lastLook = performance.now()
  const tick = (): void => {
    // Whoever has stood still itself has seen nothing.
    if (performance.now() - lastLook > 3 * lookEveryMs) beats.clear()
    lastLook = performance.now()
    if (looking) return
    looking = true
    look()
      .catch((error: unknown) => {
        beats.clear()
        services.log.warn({ err: error }, 'could not look for workers that are gone')
      })
      .finally(() => {
        looking = false
      })
  }
  // The one that is gone may be the one that this process stands in for, with somebody waiting.
  tick()
  const timer = setInterval(tick, lookEveryMs)
  return () => clearInterval(timer)
}
