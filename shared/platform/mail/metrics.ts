import { Counter, Histogram } from 'prom-client'
import type { Executor } from '#shared/platform/db/database.ts'
import type { Metrics } from '#shared/platform/kernel/metrics.ts'

export const mailAttempts = new Counter({
  name: 'kontor_mail_tries_total',
  help: 'Attempts to deliver a mail, by its kind and outcome: sent, later, uncertain, bounced or failed',
  labelNames: ['kind', 'outcome'],
  registers: [],
})

export const relayRefusals = new Counter({
  name: 'kontor_mail_relay_refusals_total',
  help: 'Refusals by which a mail relay delays all mail, by whose relay it is (operator, connection) and by reason (auth, tls, session, policy)',
  labelNames: ['relay', 'reason'],
  registers: [],
})

export const mailSeconds = new Histogram({
  name: 'kontor_mail_seconds',
  help: 'Time from when a mail was queued until a server accepted it, by its kind',
  labelNames: ['kind'],
  buckets: [0.1, 0.5, 2, 10, 60, 300, 1800, 7200, 86400],
  registers: [],
})

export const mailMetrics: Metrics<Executor> = { workerCounters: [mailAttempts, relayRefusals, mailSeconds] }
