import { startTemporary } from '../postgres/temporary.ts'
import { runAva } from './ava.ts'
import type { Tally } from './tally.ts'

/** What configures a run of Kontor is none of a test's business. */
const settingsOfARun = /^(DATABASE_URL|DATA_DIR|PORT|PUBLIC_URL|SECRET_KEY|SMTP_URL|S3_.*)$/

/**
 * Runs test files, all when none is named, against a temporary database server, or the one of TEST_DATABASE_URL. The server
 * is gone when the count is there.
 */
export async function runSuite(args: readonly string[], stop: AbortSignal): Promise<Tally> {
  const given = process.env.TEST_DATABASE_URL
  const postgres = given ? { url: given, stop: async () => {} } : await startTemporary((line) => console.error(line))
  try {
    if (stop.aborted) return { passed: 0, failed: 1, skipped: 0 }
    const inherited = Object.entries(process.env).filter(([name]) => !settingsOfARun.test(name))
    return await runAva(args, { ...Object.fromEntries(inherited), TEST_DATABASE_URL: postgres.url }, stop)
  } finally {
    await postgres.stop()
  }
}
