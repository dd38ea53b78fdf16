import { startTemporary } from './postgres/temporary.ts'
import { stopRequest, waitForStop } from './stop-request.ts'

// `node scripts/run.mjs postgres`: an empty database server for running single test files, until Ctrl-C.

const stop = stopRequest()
const postgres = await startTemporary((line) => console.error(line))
console.log(`export TEST_DATABASE_URL=${postgres.url}`)
await waitForStop(stop)
await postgres.stop()
