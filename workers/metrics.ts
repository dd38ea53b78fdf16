import { Counter, Gauge, Histogram, Registry } from 'prom-client'

/** What a worker process counts of itself, for `GET /metrics`. */
export const registry = new Registry()

export const attemptSeconds = new Histogram({
  name: 'kontor_job_attempt_seconds',
  help: 'Time that one attempt of a job took, by job and outcome',
  labelNames: ['job', 'outcome'],
  buckets: [0.005, 0.02, 0.1, 0.5, 2, 10, 60, 300],
  registers: [registry],
})

export const runningJobs = new Gauge({
  name: 'kontor_pools_running',
  help: 'Whether this process runs a pool',
  labelNames: ['pool'],
  registers: [registry],
})

export const chainsCut = new Counter({
  name: 'kontor_event_chains_cut_total',
  help: 'Chains of automations that were taken for loops and cut, by the subscriber that was not called',
  labelNames: ['subscriber'],
  registers: [registry],
})
