import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'

/** The line that begins the summary of AVA. */
const rule = '─'

/**
 * Prints a report of AVA line by line. `end` prints its summary, after a failed run behind all lines that are not a passed test: AVA
 * reports uncaught errors and ended threads only when they occur, and thousands of lines may follow.
 */
export function printReport(report: Readable): { readonly end: (failed: boolean) => void } {
  const failures: string[] = []
  const summary: string[] = []
  let isOfPassedTest = false
  createInterface({ input: report }).on('line', (line) => {
    if (summary.length > 0 || line.trim() === rule) return void summary.push(line)
    console.log(line)
    // What a test logged is indented below its line.
    if (/^ {2}\S/.test(line)) isOfPassedTest = line.startsWith('  ✔')
    if (!isOfPassedTest && line.trim() !== '') failures.push(line)
  })
  return {
    end: (failed) => {
      if (failed && failures.length > 0) console.log(['', '  Other than passed tests:', ...failures].join('\n'))
      if (summary.length > 0) console.log(summary.join('\n'))
    },
  }
}
