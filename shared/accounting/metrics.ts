import { Counter } from 'prom-client'

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

// Found by their labels once: every posting counts. A series that stands at zero before its first count shows that count as a rise.
const entries = posted.labels({ kind: 'entry' })
const reversals = posted.labels({ kind: 'reversal' })
const outcomes = { clean: checks.labels({ outcome: 'clean' }), differs: checks.labels({ outcome: 'differs' }) }
for (const series of [entries, reversals, outcomes.clean, outcomes.differs]) series.inc(0)

/** Counters of this process, which its registry takes up. */
export const ledgerCounters = [posted, seals, checks] as const

/** Counts an entry, once it is committed. */
export const countPosted = (isReversal: boolean): void => (isReversal ? reversals : entries).inc()

/** Counts a seal that was kept. */
export const countSeal = (): void => seals.inc()

/** Counts a check of books. */
export const countCheck = (isClean: boolean): void => outcomes[isClean ? 'clean' : 'differs'].inc()
