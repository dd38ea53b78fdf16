import { join } from 'node:path'
import { startTemporary } from '../postgres/temporary.ts'
import { runAva } from './ava.ts'
import { writeGroups } from './groups.ts'
import type { Tally } from './tally.ts'

/** What configures a run of Kontor is none of a test's business. */
const settingsOfARun = /^(DATABASE_URL|DATA_DIR|PORT|PUBLIC_URL|SECRET_KEY|SMTP_URL|S3_.*)$/

/** Where Node keeps what it has compiled, for the next thread and the next run: loading a file costs half. */
const compiled = join(import.meta.dirname, '..', '..', '.cache', 'compiled')

/** Without a name, options such as `--match` are for all files, each in a thread of its own. */
const everyFile = 'test/**/*.test.ts'

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
    const env = { NODE_COMPILE_CACHE: compiled, ...Object.fromEntries(inherited), TEST_DATABASE_URL: postgres.url }
    return await runAva(chosenFiles(args), env, stop, args.length === 0)
  } finally {
    await postgres.stop()
  }
}

/** What AVA is to run: all files in groups that share a thread, or those that are named as they are. */
function chosenFiles(args: readonly string[]): readonly string[] {
  if (args.length === 0) return writeGroups()
  return args.some((arg) => !arg.startsWith('-')) ? args : [...args, everyFile]
}
