import type { Tx } from '#shared/platform/db/database.ts'
import { type AnyJob, type WorkerPool, workerPools } from '#shared/platform/jobs/job.ts'
import type { JobQueue } from '#shared/platform/jobs/job-queue.ts'
import { signalChannels } from '#shared/platform/jobs/job-signals.ts'
import { deletePause, insertPause, isKindPaused, listPauses } from '#shared/platform/jobs/pauses/store.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

const channel = signalChannels.paused

/**
 * Pauses a kind: after the commit no process starts another of its jobs; what runs ends. `jobs` are the declared jobs. Throws NOT_FOUND for
 * an unknown kind, VALIDATION_ERROR for one that may not be paused or is paused. Returns the kinds that the change is about, as the other
 * functions do.
 */
export async function pauseKind(tx: Tx, queue: JobQueue, jobs: readonly AnyJob[], name: string): Promise<readonly string[]> {
  const { pausable } = requireKind(jobs, name)
  if (pausable === false) throw problem('VALIDATION_ERROR', `The kind ${name} cannot be paused: ${listFixed(jobs)} always run`)
  if (!(await insertPause(tx, { target: 'kind', name, kinds: [name], channel })))
    throw problem('VALIDATION_ERROR', `The kind ${name} is paused already`)
  admitOthers(tx, queue)
  return [name]
}

/**
 * Ends the pause of a kind; waiting jobs start after the commit, unless its pool is paused. Throws NOT_FOUND for an unknown kind,
 * VALIDATION_ERROR for one that is not paused by itself.
 */
export async function resumeKind(tx: Tx, queue: JobQueue, jobs: readonly AnyJob[], name: string): Promise<readonly string[]> {
  const { pool } = requireKind(jobs, name)
  if (!(await deletePause(tx, { target: 'kind', name, channel }))) {
    const byPool = (await isKindPaused(tx, name)) ? `, its pool ${pool} is: resume the pool` : ''
    throw problem('VALIDATION_ERROR', `The kind ${name} is not paused${byPool}`)
  }
  admitOthers(tx, queue)
  return [name]
}

/**
 * Pauses all kinds of a pool, except for those that may not be paused. Throws NOT_FOUND for an unknown pool, VALIDATION_ERROR for one that is
 * paused.
 */
export async function pausePool(tx: Tx, queue: JobQueue, jobs: readonly AnyJob[], name: string): Promise<readonly string[]> {
  const kinds = pausableKinds(jobs, requirePool(name))
  if (!(await insertPause(tx, { target: 'pool', name, kinds, channel })))
    throw problem('VALIDATION_ERROR', `The pool ${name} is paused already`)
  admitOthers(tx, queue)
  return kinds
}

/**
 * Ends the pause of a pool; kinds that are paused by themselves stay paused. Throws NOT_FOUND for an unknown pool, VALIDATION_ERROR for one
 * that is not paused.
 */
export async function resumePool(tx: Tx, queue: JobQueue, jobs: readonly AnyJob[], name: string): Promise<readonly string[]> {
  const pool = requirePool(name)
  if (!(await deletePause(tx, { target: 'pool', name, channel }))) {
    const kinds = (await listPauses(tx)).filter(({ target }) => target === 'kind').map((pause) => pause.name)
    const byKind = kinds.length > 0 ? `; paused kinds: ${kinds.join(', ')}` : ''
    throw problem('VALIDATION_ERROR', `The pool ${name} is not paused${byKind}`)
  }
  admitOthers(tx, queue)
  return pausableKinds(jobs, pool)
}

/** The kinds of a pool that a pause of the pool holds. */
export const pausableKinds = (jobs: readonly AnyJob[], pool: WorkerPool): readonly string[] =>
  jobs.filter((job) => job.pool === pool && job.pausable !== false).map(({ name }) => name)

const listFixed = (jobs: readonly AnyJob[]): string =>
  jobs
    .filter(({ pausable }) => pausable === false)
    .map(({ name }) => name)
    .join(', ')

function requireKind(jobs: readonly AnyJob[], name: string): AnyJob {
  const job = jobs.find((one) => one.name === name)
  if (job) return job
  throw problem('NOT_FOUND', `${name} is no kind of job; kontor jobs lists them`)
}

function requirePool(name: string): WorkerPool {
  const pool = workerPools.find((one) => one === name)
  if (pool) return pool
  throw problem('NOT_FOUND', `${name} is no pool; the pools are ${workerPools.join(', ')}`)
}

/** Gives the slots of gates to kinds that are not paused. A failure is repaired by the maintenance task `jobs at gates`. */
const admitOthers = (tx: Tx, queue: JobQueue): void => tx.afterCommit(() => void queue.gates.admitAll().catch(() => undefined))
