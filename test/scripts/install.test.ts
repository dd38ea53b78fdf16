import { existsSync, mkdirSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import test from 'ava'
import { eventually } from '#test/support/eventually.ts'
import { createProject, kill, nothingRunsIn, type Project, type Run } from './project.ts'

const modules = resolve(import.meta.dirname, '..', '..', 'node_modules')

/** A project with nothing installed, whose check prints its Node, and an npm that records its calls, takes the given time and then links the modules. */
function createEmpty(npm: {
  seconds: number
  exitCode?: number
}): Project & { calls: () => string[]; verb: (verb: string, seconds?: number, env?: NodeJS.ProcessEnv) => Run } {
  const project = createProject({ isInstalled: false })
  const programs = join(project.folder, 'programs')
  const log = join(project.folder, 'calls')
  mkdirSync(programs)
  const lines = [
    '#!/bin/sh',
    `echo "$@" >> ${log}`,
    // A child must not outlive it for long: an open output keeps a run from ending.
    'n=0; while [ $n -lt $((NPM_SECONDS * 10)) ]; do sleep 0.1; n=$((n + 1)); done',
    `[ -e node_modules ] || ln -s ${modules} node_modules`,
    `exit ${npm.exitCode ?? 0}`,
  ]
  writeFileSync(join(programs, 'npm'), lines.join('\n'), { mode: 0o755 })
  writeFileSync(join(project.folder, 'scripts', 'check.ts'), 'console.log("ran on", process.version)\n')
  return {
    ...project,
    calls: () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []),
    verb: (verb, seconds = npm.seconds, env = {}) =>
      project.run(`node scripts/run.mjs ${verb}`, { PATH: `${programs}:${process.env.PATH}`, NPM_SECONDS: `${seconds}`, ...env }),
  }
}

test('install: of two installations of a fresh tree one installs and the other waits, and a third installs nothing', async (t) => {
  const project = createEmpty({ seconds: 1 })
  t.teardown(() => project.remove())
  const runs = [project.verb('check'), project.verb('check')]
  t.deepEqual(await Promise.all(runs.map((run) => run.ended)), [0, 0])
  for (const run of runs) t.regex(run.output(), /^ran on v24\./m)
  t.regex(runs.map((run) => run.output()).join(''), /Waiting for another installation \(pid \d+\) to finish\./)
  await project.verb('check').ended
  const folder = join(project.folder, '.cache', 'install')
  const call = `ci --prefix=${folder} --ignore-scripts --include=dev --include=optional --no-audit --no-fund --loglevel=error`
  t.deepEqual(project.calls(), [call])
  t.false(existsSync(folder))
})

test('install: another lock file is another installation, and one that fails leaves node_modules as it is', async (t) => {
  const project = createEmpty({ seconds: 0 })
  t.teardown(() => project.remove())
  symlinkSync(modules, join(project.folder, 'node_modules'))
  await project.verb('check').ended
  t.deepEqual(project.calls(), [])
  const file = join(project.folder, 'package-lock.json')
  const lock = JSON.parse(readFileSync(file, 'utf8'))
  lock.packages['node_modules/ava'].version = '0.0.1'
  writeFileSync(file, JSON.stringify(lock))
  // The packages that this npm brings do not match this lock file either.
  const run = project.verb('check')
  t.is(await run.ended, 1)
  t.is(project.calls().length, 1)
  t.regex(run.output(), /could not be installed/)
  t.is(readlinkSync(join(project.folder, 'node_modules')), modules)
})

test('install: a complete installation that was not put in place before a kill is put in place by the next', async (t) => {
  const project = createEmpty({ seconds: 0, exitCode: 1 })
  t.teardown(() => project.remove())
  const staging = join(project.folder, '.cache', 'install')
  mkdirSync(staging, { recursive: true })
  symlinkSync(modules, join(staging, 'node_modules'))
  const run = project.verb('check')
  t.is(await run.ended, 0)
  t.regex(run.output(), /^ran on v24\./m)
  t.deepEqual(project.calls(), [])
  t.is(readlinkSync(join(project.folder, 'node_modules')), modules)
})

for (const { name, stop } of [
  { name: 'Ctrl-C', stop: (run: Run) => run.interrupt() },
  { name: 'kill -9', stop: (run: Run) => kill(run.pid, 'SIGKILL') },
]) {
  test(`install: ${name} during the installation ends npm, and a new start installs and runs`, async (t) => {
    const project = createEmpty({ seconds: 0 })
    t.teardown(() => project.remove())
    const first = project.verb('check', 600)
    await eventually(() => project.calls().some((call) => call !== ''))
    stop(first)
    t.not(await first.ended, 0)
    const second = project.verb('check')
    t.is(await second.ended, 0)
    t.regex(second.output(), /ran on v24\./)
    await nothingRunsIn(project.folder)
    t.is(project.calls().length, 2)
  })
}

test('install: a failed installation is reported and leaves node_modules as it was', async (t) => {
  const project = createEmpty({ seconds: 0, exitCode: 1 })
  t.teardown(() => project.remove())
  mkdirSync(join(project.folder, 'node_modules', 'half'), { recursive: true })
  const run = project.verb('check')
  t.is(await run.ended, 1)
  t.is(project.calls().length, 1)
  t.true(existsSync(join(project.folder, 'node_modules', 'half')))
  t.regex(run.output(), /could not be installed: see what npm says above, then run the same command again\.\n$/)
})

for (const { verb, env, hint } of [
  { verb: 'start', env: { DATABASE_URL: 'postgres://localhost/none' }, hint: 'npm ci --omit=dev' },
  { verb: 'test:faults', env: {}, hint: 'npm ci' },
  { verb: 'postgres', env: {}, hint: 'npm ci' },
  { verb: 'screenshots', env: {}, hint: 'npm ci' },
]) {
  test(`install: ${verb} ${Object.keys(env).join('')} installs nothing; it refuses and names ${hint}`, async (t) => {
    const project = createEmpty({ seconds: 0 })
    t.teardown(() => project.remove())
    const run = project.verb(verb, 0, env)
    t.is(await run.ended, 1)
    t.is(run.output(), `The packages of package-lock.json are not installed. Run: ${hint}\n`)
    t.deepEqual(project.calls(), [])
    t.false(existsSync(join(project.folder, 'node_modules')))
  })
}

test('install: an unknown verb is answered with the known ones', async (t) => {
  const project = createProject()
  t.teardown(() => project.remove())
  const run = project.run('node scripts/run.mjs begin')
  t.is(await run.ended, 1)
  t.regex(run.output(), /^Usage: node scripts\/run\.mjs <verb>, where verb is one of start, test, /)
  rmSync(join(project.folder, '.cache'), { recursive: true, force: true })
})
