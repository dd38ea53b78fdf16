import { spawn } from 'node:child_process'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'

const root = resolve(import.meta.dirname, '..', '..')
const modules = join(root, 'node_modules')
/** Result of the last type check. The next one then reads only changed files: 2 s of processor time instead of 20. */
const knownTypes = join(root, '.cache', 'types.tsbuildinfo')

/** Checks that need no running Kontor, each with the arguments of the pinned Node. */
const checks: readonly { name: string; args: readonly string[] }[] = [
  { name: 'types', args: [join(modules, 'typescript-7', 'bin', 'tsc'), '-p', root, '--incremental', '--tsBuildInfoFile', knownTypes] },
  { name: 'lint', args: [join(modules, '@biomejs', 'biome', 'bin', 'biome'), 'check', '--max-diagnostics=100'] },
  { name: 'architecture', args: [join(modules, 'ava', 'entrypoints', 'cli.js'), 'test/entries/architecture.ts'] },
  { name: 'unused', args: [join(modules, 'knip', 'bin', 'knip.js'), '--no-progress'] },
  { name: 'description', args: ['scripts/check/description.ts'] },
]

/** Runs all checks side by side and prints the output of those that failed and one line per check. Returns the number that failed. */
export async function runChecks(): Promise<number> {
  const results = await Promise.all(checks.map(async ({ name, args }) => ({ name, ...(await run(args)) })))
  const failed = results.filter(({ code }) => code !== 0)
  for (const { name, output } of failed) console.log(`── ${name}\n${output}\n`)
  for (const { name, code } of results) console.log(`${name}: ${code === 0 ? 'passed' : 'failed'}`)
  return failed.length
}

async function run(args: readonly string[]): Promise<{ code: number; output: string }> {
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  const closed = new Promise<number>((resolve) => child.on('close', (code) => resolve(code ?? 1)))
  const [code, ...output] = await Promise.all([closed, text(child.stdout), text(child.stderr)])
  return { code, output: output.join('').trim() }
}
