import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { ledgerCounters } from '#shared/features/accounting/metrics.ts'
import { addZoneReleaseGauge, countEventsOfOlderZones } from '#shared/features/calendar/zones/metrics.ts'
import { countOpenRuns, type OpenRuns } from '#shared/features/flows/metrics.ts'
import { countAllItems } from '#shared/features/queues/counts/store.ts'
import { queueCounters } from '#shared/features/queues/metrics.ts'
import { registerStoreMetrics } from '#shared/platform/blobs/store-metrics.ts'
import type { Database } from '#shared/platform/db/database.ts'
import { registerConnectionGauges } from '#shared/platform/db/pool/connection-metrics.ts'
import { findQueueDepths, type QueueDepth } from '#shared/platform/jobs/monitoring/queue-depths.ts'
import type { Logger } from '#shared/platform/kernel/log.ts'
import { paymentGauges } from '#workers/features/payments/metrics.ts'
import type { Resources } from '#workers/resources.ts'

/** The metrics of a worker process, for `GET /metrics`. */
export const registry = new Registry()
collectDefaultMetrics({ register: registry })
export const watchConnections = registerConnectionGauges(registry)
export const watchStore = registerStoreMetrics(registry)
for (const counter of [...queueCounters, ...ledgerCounters]) registry.registerMetric(counter)
addZoneReleaseGauge(registry)

export const jobWaitSeconds = new Histogram({
  name: 'kontor_job_wait_seconds',
  help: 'Time from when a job was due until its first attempt began, its wait at a gate included, by job',
  labelNames: ['job'],
  buckets: [0.005, 0.02, 0.1, 0.5, 2, 10, 60, 300, 1800],
  registers: [registry],
})

export const jobAttemptSeconds = new Histogram({
  name: 'kontor_job_attempt_seconds',
  help: 'Time that one attempt of a job took, by job and outcome',
  labelNames: ['job', 'outcome'],
  buckets: [0.005, 0.02, 0.1, 0.5, 2, 10, 60, 300],
  registers: [registry],
})

export const chainsCut = new Counter({
  name: 'kontor_event_chains_cut_total',
  help: 'Chains of automations that were taken for loops and cut, by the subscriber that was not called',
  labelNames: ['subscriber'],
  registers: [registry],
})

export const mailAttempts = new Counter({
  name: 'kontor_mail_tries_total',
  help: 'Tries to hand a mail over, by what it is about and what came of it: sent, later, uncertain, bounced or failed',
  labelNames: ['kind', 'outcome'],
  registers: [registry],
})

export const relayRefusals = new Counter({
  name: 'kontor_mail_relay_refusals_total',
  help: 'Refusals by which a mail relay delays all mail, by whose relay it is (operator, connection) and by reason (auth, tls, session, policy)',
  labelNames: ['relay', 'reason'],
  registers: [registry],
})

export const mailSeconds = new Histogram({
  name: 'kontor_mail_seconds',
  help: 'Time from when a mail was written until a server had taken it, by what it is about',
  labelNames: ['kind'],
  buckets: [0.1, 0.5, 2, 10, 60, 300, 1800, 7200, 86400],
  registers: [registry],
})

export const flowRunSeconds = new Histogram({
  name: 'kontor_flow_run_seconds',
  help: 'Time from when a run of a flow was made until it ended, its waits included, by how it ended',
  labelNames: ['status'],
  buckets: [0.02, 0.1, 0.5, 2, 10, 60, 300, 3600, 86_400],
  registers: [registry],
})

export const flowSteps = new Counter({
  name: 'kontor_flow_steps_total',
  help: 'Steps of flows that were written, by kind of block and how they ended',
  labelNames: ['type', 'status'],
  registers: [registry],
})

/** Function runners of this process, counted when metrics are read. */
const runners = new Set<Resources['functions']>()

new Gauge({
  name: 'kontor_function_runners',
  help: 'Processes of this worker that run functions, by whether they are busy or idle',
  labelNames: ['state'],
  registers: [registry],
  collect() {
    const counts = [...runners].map((functions) => functions.counts)
    for (const state of ['busy', 'idle'] as const)
      this.set(
        { state },
        counts.reduce((sum, count) => sum + count[state], 0),
      )
  },
})

/** Counts these runners until the returned function is called. */
export function watchRunners(functions: Resources['functions']): () => void {
  runners.add(functions)
  return () => void runners.delete(functions)
}

/** The database whose queues this process reports. Only processes of the pool `schedule` report, so that other pools do not count twice. */
let queues: { readonly database: Database; readonly log: Logger } | undefined
let depths: Promise<readonly QueueDepth[]> = Promise.resolve([])

/** Reports this database's queues until the returned function is called. */
export function watchQueues(database: Database, log: Logger): () => void {
  queues = { database, log }
  return () => {
    queues = undefined
  }
}

new Gauge({
  name: 'kontor_flow_runs_open',
  help: 'Runs of flows that have not ended, by whether they are queued, running, or wait for a time, a function or a call',
  labelNames: ['state'],
  registers: [registry],
  async collect() {
    this.reset()
    for (const { state, count } of await countRuns()) this.set({ state }, count)
  },
})

/** Called once per scrape: two gauges use its result. */
const countJobs = (): Promise<readonly QueueDepth[]> => counted(findQueueDepths, 'jobs')

const countRuns = (): Promise<readonly OpenRuns[]> => counted(countOpenRuns, 'runs of flows')

async function counted<T>(count: (database: Database) => Promise<readonly T[]>, what: string): Promise<readonly T[]> {
  if (!queues) return []
  const { database, log } = queues
  try {
    return await count(database)
  } catch (error) {
    log.warn({ err: error }, `could not count ${what}`)
    return []
  }
}

paymentGauges(registry, counted)

new Gauge({
  name: 'kontor_queue_jobs',
  help: 'Jobs in a queue, by whether they wait or run',
  labelNames: ['job', 'state'],
  registers: [registry],
  async collect() {
    depths = countJobs()
    this.reset()
    for (const { job, waiting, running } of await depths) {
      this.set({ job, state: 'waiting' }, waiting)
      this.set({ job, state: 'running' }, running)
    }
  },
})

new Gauge({
  name: 'kontor_queue_oldest_seconds',
  help: 'Since when the next job of a queue, or of its gate, has been waiting; 0 when none is due',
  labelNames: ['job'],
  registers: [registry],
  async collect() {
    this.reset()
    for (const { job, oldestSeconds } of await depths) this.set({ job }, oldestSeconds)
  },
})

new Gauge({
  name: 'kontor_queue_items',
  help: 'Items in the work queues of all workspaces, by status',
  labelNames: ['status'],
  registers: [registry],
  async collect() {
    this.reset()
    for (const { status, items } of await countItems()) this.set({ status }, items)
  },
})

async function countItems(): Promise<readonly { readonly status: string; readonly items: number }[]> {
  if (!queues) return []
  const { database, log } = queues
  try {
    return await database.query(countAllItems())
  } catch (error) {
    log.warn({ err: error }, 'could not count items of work queues')
    return []
  }
}

new Gauge({
  name: 'kontor_calendar_stale_events',
  help: 'Calendar events that are not over and whose times go by an older release of the time zone data',
  registers: [registry],
  async collect() {
    this.set(await countStale())
  },
})

async function countStale(): Promise<number> {
  if (!queues) return 0
  try {
    return await countEventsOfOlderZones(queues.database)
  } catch (error) {
    queues.log.warn({ err: error }, 'could not count events')
    return 0
  }
}
