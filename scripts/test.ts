import { runChecks } from './check/checks.ts'
import { stopRequest } from './stop-request.ts'
import { runSuite } from './test/suite.ts'
import { formatTally } from './test/tally.ts'

// `npm test`: the checks and all test files, or only the named test files, and the count on the last line. A failed check counts as a
// failed test.

const files = process.argv.slice(2)
const stop = stopRequest()
const failedChecks = files.length === 0 ? await runChecks() : 0
const tally = await runSuite(files, stop)
const total = { ...tally, failed: tally.failed + failedChecks }
console.log(`\n${formatTally(total)}`)
process.exit(total.failed === 0 ? 0 : 1)
