import type { Executor, Tx } from '#shared/platform/db/database.ts'
import type { AnyJob } from '#shared/platform/jobs/job.ts'
import type { JobQueue } from '#shared/platform/jobs/job-queue.ts'
import { inboxSignal } from '#shared/platform/jobs/job-signals.ts'
import { reopenOperation } from '#shared/platform/jobs/operations/operations.ts'
import { jobsByName } from '#shared/platform/jobs/operator/filter.ts'
import { untrackedNames } from '#shared/platform/jobs/operator/find-jobs.ts'
import {
  cancelOpenOperations,
  cancelWaitingJobs,
  deleteFailedJob,
  discardFailed,
  lockFailedJob,
  lockFailure,
} from '#shared/platform/jobs/pgboss/operator/actions.ts'
import { describeJobs, findPlaces } from '#shared/platform/jobs/pgboss/operator/describe.ts'
import type { FoundJob } from '#shared/platform/jobs/pgboss/operator/search.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'

export const jobActions = ['retry', 'cancel', 'discard'] as const
export type JobAction = (typeof jobActions)[number]

/** What acting on jobs needs. `jobs` are all declared jobs. */
export interface ActServices {
  readonly db: Executor
  readonly jobQueue: JobQueue
  readonly jobs: readonly AnyJob[]
  readonly now: () => Date
}

export interface ActOptions {
  /** Whether also jobs are retried whose caller, or whose awaiting work, was given the failure. */
  readonly alsoAnswered?: boolean | undefined
}

/** What became of the jobs of an action: those that it was done to, and those that its state, or their caller, did not allow. */
export interface Acted {
  readonly done: readonly string[]
  /** Retries that were skipped because somebody was given the failure. */
  readonly answered: readonly string[]
  readonly unfit: readonly string[]
}

/** The failure of work that an operator cancels. */
const cancelledProblem = problem('CANCELLED', undefined, { expected: true })

/**
 * Does an action to jobs, in the caller's transaction: each of them either has the whole effect or none. Jobs whose state does not fit any more
 * are left as they are. The next jobs at gates are admitted, and callers and queues notified, after the commit.
 */
export function actOn(
  services: ActServices & { readonly db: Tx },
  action: JobAction,
  found: readonly FoundJob[],
  options: ActOptions = {},
): Promise<Acted> {
  return actions[action](services, found, options)
}

type Act = (services: ActServices & { readonly db: Tx }, found: readonly FoundJob[], options: ActOptions) => Promise<Acted>

const actions: Readonly<Record<JobAction, Act>> = { retry: retryJobs, cancel: cancelJobs, discard: discardJobs }

const outcome = (found: readonly FoundJob[], done: ReadonlySet<string>, answered: readonly string[] = []): Acted => ({
  done: found.flatMap(({ id }) => (done.has(id) ? [id] : [])),
  answered,
  unfit: found.flatMap(({ id }) => (done.has(id) || answered.includes(id) ? [] : [id])),
})

async function cancelJobs({ db, jobQueue, jobs, now }: ActServices & { readonly db: Tx }, found: readonly FoundJob[]): Promise<Acted> {
  const byName = jobsByName(jobs)
  const fit = found.filter(({ name }) => byName.get(name)?.cancel !== 'refused')
  const error = cancelledProblem.toJSON()
  const tracked = fit.flatMap(({ place, id }) => (place === 'operation' ? [id] : []))
  const operations = tracked.length === 0 ? [] : await cancelOpenOperations(db, tracked, error)
  const others = fit.filter(({ place }) => place === 'queue' || place === 'deferred')
  const waiting = others.length === 0 ? [] : await cancelWaitingJobs(db, others)
  let isRecorded = false
  for (const { name, envelope } of waiting) {
    const job = byName.get(name)
    if (!job || typeof job.cancel !== 'object') continue
    await job.cancel.record(db, job.payload.parse(envelope.payload, 'payload'), error, now())
    isRecorded = true
  }
  db.afterCommit(() => {
    // What was recorded may be an event, such as the end of a run.
    if (isRecorded) jobQueue.signals.signalOften(inboxSignal)
    for (const { id, continues } of operations) jobQueue.signals.signalFailure(id, continues)
    const gates = new Map(
      operations.flatMap(({ job, workspace_id, wasQueued }) => {
        const gate = byName.get(job)?.gate
        return gate && wasQueued ? [[`${workspace_id} ${gate.name}`, { gate, workspace_id }] as const] : []
      }),
    )
    for (const { gate, workspace_id } of gates.values()) void jobQueue.admitNext(gate, workspace_id)
  })
  return outcome(found, new Set([...operations, ...waiting].map(({ id }) => id)))
}

async function discardJobs({ db, jobs }: ActServices & { readonly db: Tx }, found: readonly FoundJob[]): Promise<Acted> {
  const discarded = await discardFailed(
    db,
    found.map(({ id }) => id),
    untrackedNames(jobs),
  )
  return outcome(found, new Set(discarded.map(({ id }) => id)))
}

async function retryJobs(
  services: ActServices & { readonly db: Tx },
  found: readonly FoundJob[],
  { alsoAnswered = false }: ActOptions,
): Promise<Acted> {
  const done = new Set<string>()
  const answered: string[] = []
  for (const one of found) {
    const result = await retryJob(services, one, alsoAnswered)
    if (result === 'done') done.add(one.id)
    if (result === 'answered') answered.push(one.id)
  }
  return outcome(found, done, answered)
}

/**
 * Sends a failed job to its queue again under its own id; its operation continues from its last checkpoint. A failure without a dead letter was
 * its caller's own, and its caller was told, or may read it at any time.
 */
async function retryJob(
  { db, jobQueue, jobs }: ActServices & { readonly db: Tx },
  { place, id }: FoundJob,
  alsoAnswered: boolean,
): Promise<'done' | 'answered' | 'unfit'> {
  const kept = await lockFailedJob(db, id)
  const isAnswered = place === 'operation' ? await lockFailure(db, id) : false
  if (!kept || isAnswered === undefined) return 'unfit'
  if (!alsoAnswered && (isAnswered || !kept.isLetter)) return 'answered'
  await deleteFailedJob(db, id, kept)
  if (place === 'operation') await reopenOperation(db, id, kept.id)
  await jobQueue.send(db, jobs.find(({ name }) => name === kept.name) ?? { name: kept.name }, kept.id, kept.envelope)
  return 'done'
}

/** What an action needs of a job's state. */
const needs: Readonly<Record<JobAction, string>> = {
  retry: 'a job that has failed and whose payload is still kept',
  cancel: 'a job that waits, is held or runs',
  discard: 'a job that has failed',
}

/**
 * Does an action to one job, in the caller's transaction. Throws NOT_FOUND, and VALIDATION_ERROR when the state of the job, its kind, or an
 * answer that its caller has had does not allow it.
 */
export async function actOnJob(
  services: ActServices & { readonly db: Tx },
  action: JobAction,
  id: string,
  options: ActOptions = {},
): Promise<void> {
  const { db, jobs } = services
  const places = () => findPlaces(db, [id], untrackedNames(jobs))
  const found = isUuid(id) ? await places() : []
  if (found.length === 0) throw problem('NOT_FOUND', `There is no job ${id}: it never was, or it is no longer kept`)
  const { done, answered } = await actOn(services, action, found, options)
  if (done.length > 0) return
  if (answered.length > 0) {
    throw problem(
      'VALIDATION_ERROR',
      'also_answered must be true: the caller of this job was told that it failed, and may have repeated the call',
    )
  }
  const [now] = await describeJobs(db, await places())
  if (!now) throw problem('NOT_FOUND', `There is no job ${id} any more`)
  if (action === 'cancel' && jobsByName(jobs).get(now.name)?.cancel === 'refused') {
    throw problem('VALIDATION_ERROR', `Jobs of the kind ${now.name} cannot be cancelled: what they continue would stay half done`)
  }
  if (action === 'cancel' && now.state === 'running') {
    throw problem('VALIDATION_ERROR', `A job of the kind ${now.name} cannot be cancelled while it runs: nothing waits for its outcome`)
  }
  throw problem('VALIDATION_ERROR', `${action} needs ${needs[action]}; this one is ${now.state}`)
}
