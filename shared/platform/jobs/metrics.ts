import { Counter, Histogram } from 'prom-client'
import type { Executor } from '#shared/platform/db/database.ts'
import { noteAttempt } from '#shared/platform/jobs/figures/attempt-figures.ts'
import { findTopShare } from '#shared/platform/jobs/figures/store.ts'
import { findQueueDepths, type QueueDepth } from '#shared/platform/jobs/pgboss/counts/queue-depths.ts'
import { findStoppedJobs } from '#shared/platform/jobs/pgboss/counts/stopped-jobs.ts'
import { findPausedByKind } from '#shared/platform/jobs/pgboss/paused-kinds.ts'
import { addGauge, type Metrics } from '#shared/platform/kernel/metrics.ts'

export const jobWaitSeconds = new Histogram({
  name: 'kontor_job_wait_seconds',
  help: 'Time from when a job was due until its first attempt began, its wait at a gate included, by queue',
  labelNames: ['queue'],
  buckets: [0.02, 0.1, 0.5, 2, 10, 60, 300, 1800],
  registers: [],
})

const jobAttemptSeconds = new Histogram({
  name: 'kontor_job_attempt_seconds',
  help: 'Time that one attempt of a job took, by queue',
  labelNames: ['queue'],
  buckets: [0.02, 0.1, 0.5, 2, 10, 60, 300],
  registers: [],
})

const jobAttempts = new Counter({
  name: 'kontor_job_attempts_total',
  help: 'Attempts of jobs that ended, by queue and outcome: completed, failed, rested until its workspace or app is on again, or waits for a part that is away',
  labelNames: ['queue', 'outcome'],
  registers: [],
})

/** How an attempt ended, as the metric `kontor_job_attempts_total` names it. */
export type AttemptOutcome = 'completed' | 'failed' | 'rested' | 'waits'

/** Counts an attempt that ended. */
export function recordAttempt(queue: string, workspaceId: string | null, outcome: AttemptOutcome, ms: number): void {
  jobAttempts.inc({ queue, outcome })
  jobAttemptSeconds.observe({ queue }, ms / 1_000)
  if (outcome === 'completed' || outcome === 'failed') noteAttempt(queue, workspaceId, outcome === 'completed' ? 'done' : 'failed', ms)
}

export const jobMetrics: Metrics<Executor> = {
  workerCounters: [jobWaitSeconds, jobAttemptSeconds, jobAttempts],
  addGauges: (registry, query) => {
    // A scrape collects the gauges in the order of their registration, so the second gauge uses the rows that the first one has read.
    let depths: Promise<readonly QueueDepth[]> = Promise.resolve([])
    addGauge(registry, 'kontor_queue_jobs', 'Jobs in a queue, by whether they wait or run', ['queue', 'state'], async () => {
      depths = query(findQueueDepths, 'jobs')
      return (await depths).flatMap(({ job, waiting, running }) => [
        { labels: { queue: job, state: 'waiting' }, value: waiting },
        { labels: { queue: job, state: 'running' }, value: running },
      ])
    })
    const help =
      'How long the longest waiting job of a queue, or of its gate, has been waiting, jobs that wait for another try included; 0 when none waits'
    addGauge(registry, 'kontor_queue_oldest_seconds', help, ['queue'], async () =>
      (await depths).map(({ job, oldestSeconds }) => ({ labels: { queue: job }, value: oldestSeconds })),
    )
    const stoppedHelp =
      'Jobs of a queue that wait for their workspace or app (held), and that failed in every attempt and are kept (given_up); absent for none'
    addGauge(registry, 'kontor_queue_stopped_jobs', stoppedHelp, ['queue', 'state'], async () =>
      (await query(findStoppedJobs, 'stopped jobs')).flatMap(({ job, held, given_up }) => [
        ...(held > 0 ? [{ labels: { queue: job, state: 'held' }, value: held }] : []),
        ...(given_up > 0 ? [{ labels: { queue: job, state: 'given_up' }, value: given_up }] : []),
      ]),
    )
    // Without a label for the workspace: a series for each would grow with their number.
    const shareHelp = "Part of the time of all workspaces' jobs of the last ten minutes that the busiest workspace used, 0 to 1"
    addGauge(registry, 'kontor_job_top_workspace_share', shareHelp, [], async () =>
      (await query(findTopShare, 'shares of jobs')).map(({ share }) => ({ labels: {}, value: share })),
    )
    addGauge(
      registry,
      'kontor_job_paused',
      'Whether an operator has paused a kind of jobs, by itself or with its pool',
      ['kind'],
      async () => {
        const kinds = await query(findPausedByKind, 'pauses of jobs')
        return kinds.map(({ kind, is_paused }) => ({ labels: { kind }, value: Number(is_paused) }))
      },
    )
  },
}
