import { stripVTControlCharacters } from 'node:util'

/** Numbers of tests by outcome. */
export type Tally = { passed: number; failed: number; skipped: number }

// The summary of AVA. It leaves out the number of passed tests as soon as one failed, so those are counted line by line.
const totals: readonly { line: RegExp; outcome: keyof Tally }[] = [
  { line: /^ {2}(\d+) tests? failed$/, outcome: 'failed' },
  { line: /^ {2}(\d+) hooks? failed$/, outcome: 'failed' },
  { line: /^ {2}(\d+) unhandled rejections?$/, outcome: 'failed' },
  { line: /^ {2}(\d+) uncaught exceptions?$/, outcome: 'failed' },
  { line: /^ {2}(\d+) tests? remained pending after a timeout$/, outcome: 'failed' },
  { line: /^ {2}(\d+) tests? skipped$/, outcome: 'skipped' },
]
const pass = /^ {2}[✔√] /
const rule = /^ {2}─+$/

/**
 * Counts tests in AVA's report: `read` takes its lines, `result` its exit code. A failed run without a failed test, such as a file that
 * does not load, counts as one failure.
 */
export function createTally(): { read: (line: string) => void; result: (exitCode: number) => Tally } {
  const tally: Tally = { passed: 0, failed: 0, skipped: 0 }
  let isSummary = false
  return {
    read: (coloured) => {
      const line = stripVTControlCharacters(coloured)
      if (rule.test(line)) isSummary = true
      if (!isSummary && pass.test(line)) tally.passed += 1
      if (!isSummary) return
      for (const total of totals) tally[total.outcome] += Number(total.line.exec(line)?.[1] ?? 0)
    },
    result: (exitCode) => ({ ...tally, failed: exitCode === 0 ? tally.failed : Math.max(1, tally.failed) }),
  }
}

/** The plain last line of a run: `12 passed, 0 failed`, with the number of skipped tests if any. */
export function formatTally({ passed, failed, skipped }: Tally): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
}
