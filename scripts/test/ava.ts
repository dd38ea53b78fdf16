import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { endWithParent } from '../end-with-parent.mjs'
import { printReport } from './report.ts'

const root = join(import.meta.dirname, '..', '..')
const graceMs = 5_000

/** Settings of a running Kontor, which tests must not inherit. */
const settingsOfARun = /^(DATABASE_URL|DATA_DIR|PORT|PUBLIC_URL|SECRET_KEY(?:_OTHER)?|SMTP_URL|S3_.*)$/

/** Runs AVA with these arguments and returns its exit code. No process remains, whether it ended or was stopped. */
export async function runAva(args: readonly string[], databaseUrl: string, stop: AbortSignal): Promise<number> {
  const cli = join(root, 'node_modules', 'ava', 'entrypoints', 'cli.js')
  const preloaded = `--import=${new URL('collect-alone.mjs', import.meta.url).href}`
  const [command = '', ...rest] = [...endWithParent('KILL'), process.execPath, preloaded, cli, ...args]
  const inherited = Object.entries(process.env).filter(([name]) => !settingsOfARun.test(name))
  const env = { ...Object.fromEntries(inherited), TEST_DATABASE_URL: databaseUrl }
  // A terminal shows the report in colours; elsewhere, as in CI, only its end may be kept.
  const output = process.stdout.isTTY ? 'inherit' : 'pipe'
  const child = spawn(command, rest, { env, detached: true, stdio: ['ignore', output, 'inherit'] })
  const report = child.stdout && printReport(child.stdout)
  const end = (signal: NodeJS.Signals) => endGroup(child.pid, signal)
  stop.addEventListener('abort', () => {
    end('SIGINT')
    setTimeout(end, graceMs, 'SIGKILL').unref()
  })
  const exitCode = await new Promise<number>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve(code ?? 1))
  })
  end('SIGKILL')
  report?.end(exitCode !== 0)
  return exitCode
}

function endGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  try {
    if (pid) process.kill(-pid, signal)
  } catch {
    // The group is empty.
  }
}
