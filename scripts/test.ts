import { runChecks } from './check/checks.ts'
import { startTemporary } from './postgres/temporary.ts'
import { stopRequest } from './stop-request.ts'
import { runAva } from './test/ava.ts'
import { chooseEntries } from './test/entries.ts'

// `npm test`: the checks, then all tests, against a temporary database server or the one of TEST_DATABASE_URL. With names of entries, test
// files or options of AVA, only those tests and no checks.

const args = process.argv.slice(2)
const stop = stopRequest()
const avaArgs = chooseEntries(args)
if (args.length === 0 && (await runChecks()) > 0) process.exit(1)

const given = process.env.TEST_DATABASE_URL
const postgres = given ? { url: given, stop: async () => {} } : await startTemporary((line) => console.error(line))
try {
  process.exitCode = stop.aborted ? 1 : await runAva(avaArgs, postgres.url, stop)
} finally {
  await postgres.stop()
}
process.exit()
