import { Gauge, Histogram, Registry } from 'prom-client'

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
