import { stopRequest } from './stop.ts'
import { runSuite } from './test/suite.ts'
import { formatTally } from './test/tally.ts'

// `npm test`: every test file or those that are named, and the count on the last line.

const tally = await runSuite(process.argv.slice(2), stopRequest())
console.log(`\n${formatTally(tally)}`)
process.exit(tally.failed === 0 ? 0 : 1)
