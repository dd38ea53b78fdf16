import { join } from 'node:path'
import { startTemporary } from '../postgres/temporary.ts'
import { runAva } from './ava.ts'
import { writeGroups } from './groups.ts'
import type { Tally } from './tally.ts'

/** Settings of a running Kontor, which tests must not inherit. */
const settingsOfARun = /^(DATABASE_URL|DATA_DIR|PORT|PUBLIC_URL|SECRET_KEY|SMTP_URL|S3_.*)$/

/** Node's compile cache, shared by threads and runs: it halves the time to load a file. */
const compiled = join(import.meta.dirname, '..', '..', '.cache', 'compiled')

/** Without a named file, options such as `--match` apply to all files, each in its own thread. */
const everyFile = 'test/**/*.test.ts'

/**
 * Runs the named test files, or all, against a temporary database server or the one of TEST_DATABASE_URL. The temporary server is gone when
 * the count is returned.
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

/** AVA's files: all in groups that share a thread, or the named ones as they are. */
function chosenFiles(args: readonly string[]): readonly string[] {
  if (args.length === 0) return writeGroups()
  return args.some((arg) => !arg.startsWith('-')) ? args : [...args, everyFile]
}
