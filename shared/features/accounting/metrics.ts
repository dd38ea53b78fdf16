import { Counter } from 'prom-client'
import type { Executor } from '#shared/platform/db/database.ts'
import type { Metrics } from '#shared/platform/kernel/metrics.ts'

const posted = new Counter<string>({
  name: 'kontor_ledger_entries_total',
  help: 'Journal entries that this process posted, by whether they reverse another',
  labelNames: ['kind'],
  registers: [],
})
const seals = new Counter<string>({ name: 'kontor_ledger_seals_total', help: 'Seals that this process made', registers: [] })
const checks = new Counter<string>({
  name: 'kontor_ledger_checks_total',
  help: 'Checks of books that this process made, by whether anything differed',
  labelNames: ['outcome'],
  registers: [],
})

// The series are looked up once instead of at each posting. Starting at zero makes the first count visible as an increase.
const entries = posted.labels({ kind: 'entry' })
const reversals = posted.labels({ kind: 'reversal' })
const outcomes = { clean: checks.labels({ outcome: 'clean' }), differs: checks.labels({ outcome: 'differs' }) }
for (const series of [entries, reversals, outcomes.clean, outcomes.differs]) series.inc(0)

export const ledgerMetrics: Metrics<Executor> = { counters: [posted, seals, checks] }

/** Counts a committed entry. */
export const countPosted = (isReversal: boolean): void => (isReversal ? reversals : entries).inc()

/** Counts a stored seal. */
export const countSeal = (): void => seals.inc()

/** Counts a ledger verification. */
export const countCheck = (isClean: boolean): void => outcomes[isClean ? 'clean' : 'differs'].inc()
