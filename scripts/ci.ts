import { runChecks } from './check/checks.ts'
import { stopRequest } from './stop.ts'
import { runSuite } from './test/suite.ts'
import { formatTally } from './test/tally.ts'

// `.ci/run`: the checks and all tests. The last line counts a check that failed as a failed test, so it says 0 only when all is well.

const stop = stopRequest()
const failedChecks = await runChecks()
const tally = await runSuite([], stop)
const total = { ...tally, failed: tally.failed + failedChecks }
console.log(`\n${tally.skipped} skipped\n${formatTally({ ...total, skipped: 0 })}`)
process.exit(total.failed === 0 ? 0 : 1)
