import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { changesSincePassed, type Inputs, keepPassed, readInputs } from '#scripts/check/passed.ts'

const root = resolve(import.meta.dirname, '..', '..')
const modules = join(root, 'node_modules')
const biome = join(modules, '@biomejs', 'biome', 'bin', 'biome')
/** Result of the last type check. The next one then examines only changed files and those that depend on them. */
const knownTypes = ['--incremental', '--tsBuildInfoFile', join(root, '.cache', 'types.tsbuildinfo')]

interface Check {
  readonly name: string
  /** Whether it reads a file of the project. What is installed counts always. */
  readonly reads: (path: string) => boolean
  /** Arguments of the pinned Node. `changed` holds the inputs that are not those with which it passed last; undefined if it never did. */
  readonly args: (changed: readonly string[] | undefined) => readonly string[]
}

const isNoPage = (path: string): boolean => !path.endsWith('.md')

/** Checks that need no running Kontor. */
const checks: readonly Check[] = [
  {
    name: 'types',
    reads: isNoPage,
    args: () => [join(modules, 'typescript-7', 'bin', 'tsc'), '-p', root, ...(process.env.CI ? [] : knownTypes)],
  },
  {
    name: 'lint',
    reads: (path) => isNoPage(path) && !/^test\/(?:fixtures|contracts)\//.test(path),
    args: (changed) => [biome, 'check', '--max-diagnostics=100', '--no-errors-on-unmatched', ...filesToLint(changed)],
  },
  // The only rule that looks into imported files, so it reads all, whatever has changed. As part of `lint` it would make that read all too.
  { name: 'promises', reads: isNoPage, args: () => [biome, 'lint', '--only=nursery/noFloatingPromises', '--max-diagnostics=100'] },
  { name: 'architecture', reads: () => true, args: () => ['test/architecture/check.ts'] },
  { name: 'unused', reads: isNoPage, args: () => [join(modules, 'knip', 'bin', 'knip.js'), '--no-progress'] },
  { name: 'description', reads: isNoPage, args: () => ['scripts/check/description.ts'] },
]

/** Files that decide how others are linted. */
const lintSettings = ['biome.json', 'package.json', '.gitignore', 'node', 'node_modules']

/** Paths that remain to be linted; none stands for all. */
const filesToLint = (changed: readonly string[] = lintSettings): readonly string[] =>
  changed.some((path) => lintSettings.includes(path))
    ? []
    : ['--files-ignore-unknown=true', ...changed.filter((path) => existsSync(join(root, path)))]

/**
 * Runs all checks side by side and prints the output of those that failed and one line per check. Returns the number that failed. A check
 * whose inputs are those with which it passed last is not run again, except in CI.
 */
export async function runChecks(): Promise<number> {
  const before = readInputs()
  const results = await Promise.all(checks.map((check) => runUnlessPassed(check, inputsOf(check, before))))
  const failed = results.filter(({ code }) => code !== 0)
  for (const { name, output } of failed) console.log(`── ${name}\n${output}\n`)
  for (const { name, code, isKnown } of results) console.log(`${name}: ${code === 0 ? 'passed' : 'failed'}${isKnown ? ', unchanged' : ''}`)
  // What was edited meanwhile may have been checked before or after that.
  const after = readInputs()
  for (const [index, check] of checks.entries()) {
    const inputs = inputsOf(check, after)
    if (results[index]?.code === 0 && JSON.stringify(inputs) === JSON.stringify(inputsOf(check, before))) keepPassed(check.name, inputs)
  }
  return failed.length
}

const inputsOf = ({ reads }: Check, inputs: Inputs): Inputs => Object.fromEntries(Object.entries(inputs).filter(([path]) => reads(path)))

async function runUnlessPassed({ name, args }: Check, inputs: Inputs) {
  const changed = changesSincePassed(name, inputs)
  if (changed?.length === 0) return { name, code: 0, output: '', isKnown: true }
  return { name, ...(await run(args(changed))), isKnown: false }
}

async function run(args: readonly string[]): Promise<{ code: number; output: string }> {
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  const closed = new Promise<number>((resolve) => child.on('close', (code) => resolve(code ?? 1)))
  const [code, ...output] = await Promise.all([closed, text(child.stdout), text(child.stderr)])
  return { code, output: output.join('').trim() }
}
