import { madeAt } from '#shared/kernel/ids.ts'
import { waitSeconds } from '#workers/metrics.ts'

/** What of a job's row its wait is read from; instants come as the database's text. */
interface TakenJob {
  readonly id: string
  readonly name: string
  readonly retryCount: number
  readonly createdOn: Date | string
  readonly startAfter: Date | string
  readonly startedOn: Date | string
}

/** Counts how long a job has waited that was taken for the first time; a job with a gate came into its queue only when it was let in. */
export function noteWait({ id, name, retryCount, ...on }: TakenJob, hasGate: boolean): void {
  if (retryCount > 0) return
  const [created, startAfter] = [time(on.createdOn), time(on.startAfter)]
  const due = startAfter > created ? startAfter : hasGate ? madeAt(id) : created
  waitSeconds.observe({ job: name }, Math.max(0, time(on.startedOn) - due) / 1_000)
}

const time = (instant: Date | string): number => new Date(instant).getTime()
