import { type ActiveJob, findActive } from '#shared/queue/active.ts'
import { runAttempt, type WorkerServices } from '#workers/attempt.ts'
import { handlers } from '#workers/handlers.ts'

const lookEveryMs = 1_000
/** A worker touches its jobs every three seconds; whoever has missed two of them is gone. The queue itself waits for ten seconds and more. */
const lostAfterMs = 7_000

/**
 * Ends what lost workers had begun at a gate: the slot that it holds is one that others wait for. Time is this process's own, and counts
 * only while the database is there, so neither a clock that differs nor a crash of the database makes a worker look lost.
 */
export function watchForLost(services: WorkerServices): () => void {
  let beats = new Map<string, { readonly beat: string; readonly since: number }>()

  const look = async (): Promise<void> => {
    const active = await findActive(services.db)
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

  const takeOver = async (job: ActiveJob): Promise<void> => {
    const handler = handlers.find((one) => one.job.name === job.name)
    services.log.warn({ job: job.name, job_id: job.id }, 'a worker is gone')
    if (!handler) return
    await runAttempt(handler, job, AbortSignal.timeout(lookEveryMs * 10), services)
    await services.queue.boss.complete(job.name, job.id)
  }

  let looking = false
  let lastLook = performance.now()
  const timer = setInterval(() => {
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
  }, lookEveryMs)
  return () => clearInterval(timer)
}
