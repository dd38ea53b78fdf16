import { mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { createProject, nothingRunsIn, type Project } from './project.ts'

/** A project whose API, worker and commands print what they run on, and end with their own codes. */
function createPrinting(t: ExecutionContext): Project {
  const project = createProject()
  t.teardown(() => project.remove())
  const program = (code: number) =>
    `setInterval(() => {}, 1_000)
    process.on('SIGTERM', () => process.exit(${code}))
    console.log('pid', process.pid, process.version, ...process.execArgv, '|', ...process.argv.slice(2))
    if (process.argv[2] === 'org') process.exit(${code})\n`
  writeFileSync(join(project.folder, 'api', 'main.ts'), program(7))
  writeFileSync(join(project.folder, 'workers', 'main.ts'), program(8))
  writeFileSync(join(project.folder, 'bin', 'kontor.ts'), program(9))
  return project
}

/** A PATH whose Node is older than the project's, and ends as such a Node does. */
function withOldNode({ folder }: Project): { PATH: string } {
  const programs = join(folder, 'programs')
  mkdirSync(programs)
  writeFileSync(join(programs, 'node'), '#!/bin/sh\n[ "$1" = --version ] && echo v20.20.2 && exit\nexit 9\n', { mode: 0o755 })
  return { PATH: `${programs}:${process.env.PATH}` }
}

const cases = [
  { args: 'api', code: 7, flags: '--max-semi-space-size=16 --heap-growing-percent=50 --no-parallel-scavenge .*', passed: '' },
  { args: 'worker --pools=data', code: 8, flags: '--max-semi-space-size=8 --max-old-space-size=512', passed: ' --pools=data' },
  { args: 'worker --pools=mail', code: 8, flags: '', passed: ' --pools=mail' },
  { args: 'worker --pools=flows,mail', code: 8, flags: '--max-semi-space-size=8 --heap-growing-percent=50', passed: ' --pools=flows,mail' },
]

for (const { args, code, flags, passed } of cases) {
  test(`launcher: ${args} becomes the project's Node with its flags, gets SIGTERM itself, and its exit code is passed on`, async (t) => {
    const project = createPrinting(t)
    const run = project.run(`bin/kontor ${args}`, withOldNode(project))
    await run.says(new RegExp(`^pid ${run.pid} v24\\.\\S+${flags && ` ${flags}`} \\|${passed}$`, 'm'))
    run.kill('SIGTERM')
    t.is(await run.ended, code)
    await nothingRunsIn(project.folder)
  })
}

test('launcher: a command is started from any folder, also by a link', async (t) => {
  const project = createPrinting(t)
  const link = join(project.folder, 'linked')
  symlinkSync(join('bin', 'kontor'), link)
  const elsewhere = join(project.folder, 'with a blank')
  mkdirSync(elsewhere)
  const run = project.run(`sh -c 'cd "with a blank" && exec "${link}" org "two words"'`)
  t.is(await run.ended, 9)
  t.regex(run.output(), /\| org two words$/m)
})

test('launcher: the version is that of package.json, and names the release unless the operator does', async (t) => {
  const project = createPrinting(t)
  writeFileSync(join(project.folder, 'api', 'main.ts'), 'console.log(process.env.KONTOR_RELEASE)')
  const { version } = JSON.parse(readFileSync(join(project.folder, 'package.json'), 'utf8'))
  const shown = project.run('bin/kontor --version')
  t.is(await shown.ended, 0)
  t.is(shown.output(), `${version}\n`)
  for (const [environment, release] of [
    [{}, version],
    [{ KONTOR_RELEASE: 'spring' }, 'spring'],
  ] as const) {
    const run = project.run('bin/kontor api', environment)
    t.is(await run.ended, 0)
    t.is(run.output(), `${release}\n`)
  }
})

test('launcher: without the project’s Node a newer one is taken and an older one is refused', async (t) => {
  const project = createPrinting(t)
  const modules = join(project.folder, 'node_modules')
  const installed = realpathSync(modules)
  rmSync(modules)
  mkdirSync(modules)
  const names = ['.package-lock.json', ...readdirSync(installed).filter((name) => !name.startsWith('.') && !name.startsWith('node-linux'))]
  for (const name of names) symlinkSync(join(installed, name), join(modules, name))

  const refused = project.run('bin/kontor api', withOldNode(project))
  t.is(await refused.ended, 1)
  t.regex(refused.output(), /^Kontor runs on Node 24 or newer, \S+\/programs\/node is v20\.20\.2\. Run in \S+: npm ci --omit=dev\n$/)
  const taken = project.run('bin/kontor org', { PATH: `${join(process.execPath, '..')}:${process.env.PATH}` })
  t.is(await taken.ended, 9)
})

test('launcher: arguments that a process does not have, and missing packages, are refused', async (t) => {
  const project = createPrinting(t)
  for (const [args, refusal] of [
    ['api --port 80', /^kontor api takes no arguments/],
    ['worker', /^Usage: kontor worker --pools=<pools>/],
    ['worker flows', /^Usage: kontor worker --pools=<pools>/],
  ] as const) {
    const run = project.run(`bin/kontor ${args}`)
    t.is(await run.ended, 1)
    t.regex(run.output(), refusal)
  }
  rmSync(join(project.folder, 'node_modules'))
  const run = project.run('bin/kontor api')
  t.is(await run.ended, 1)
  t.regex(run.output(), /^The packages of Kontor are not installed\. Run in \S+: npm ci --omit=dev\n$/)
})
