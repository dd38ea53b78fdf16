import { runAva } from './ava.ts'
import { startTemporary } from './postgres/temporary.ts'
import { stopRequest } from './stop.ts'
import { formatTally } from './tally.ts'

// `npm test`: a temporary database server, every test file or those that are named, and the count on the last line.
// With TEST_DATABASE_URL set the tests use that server.

const settingsOfARun = ['DATABASE_URL', 'DATA_DIR', 'PORT', 'PUBLIC_URL', 'SMTP_URL']

const stop = stopRequest()
const own = process.env.TEST_DATABASE_URL
const postgres = own ? { url: own, stop: async () => {} } : await startTemporary((line) => console.error(line))
try {
  const env: NodeJS.ProcessEnv = { ...process.env, TEST_DATABASE_URL: postgres.url }
  for (const name of Object.keys(env)) if (settingsOfARun.includes(name) || name.startsWith('S3_')) delete env[name]
  const tally = stop.aborted ? { passed: 0, failed: 1, skipped: 0 } : await runAva(process.argv.slice(2), env, stop)
  console.log(`\n${formatTally(tally)}`)
  process.exitCode = tally.failed === 0 ? 0 : 1
} finally {
  await postgres.stop()
}
