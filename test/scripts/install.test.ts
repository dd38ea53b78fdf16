import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import test from 'ava'
import { eventually } from '#test/support/eventually.ts'
import { createProject, kill, nothingRunsIn, type Project, type Run } from './project.ts'

const modules = resolve(import.meta.dirname, '..', '..', 'node_modules')

/** A project with nothing installed, and an npm that records its calls, takes the given time and then links the modules. */
function createEmpty(npm: {
  seconds: number
  exitCode?: number
}): Project & { calls: () => string[]; verb: (verb: string, seconds?: number) => Run } {
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
  writeFileSync(join(project.folder, 'bin', 'kontor.ts'), 'console.log("ran on", process.version)\n')
  return {
    ...project,
    calls: () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []),
    verb: (verb, seconds = npm.seconds) =>
      project.run(`node scripts/run.mjs ${verb}`, { PATH: `${programs}:${process.env.PATH}`, NPM_SECONDS: `${seconds}` }),
  }
}

test('install: of two installations of a fresh tree one installs and the other waits, and a third installs nothing', async (t) => {
  const project = createEmpty({ seconds: 1 })
  t.teardown(() => project.remove())
  const runs = [project.verb('migrate'), project.verb('migrate')]
  t.deepEqual(await Promise.all(runs.map((run) => run.ended)), [0, 0])
  for (const run of runs) t.regex(run.output(), /^ran on v24\./m)
  t.regex(runs.map((run) => run.output()).join(''), /Waiting for another installation \(pid \d+\) to finish\./)
  await project.verb('migrate').ended
  t.deepEqual(project.calls(), ['ci --ignore-scripts --include=dev --include=optional --no-audit --no-fund --loglevel=error'])
})

test('install: another lock file is another installation', async (t) => {
  const project = createEmpty({ seconds: 0 })
  t.teardown(() => project.remove())
  symlinkSync(modules, join(project.folder, 'node_modules'))
  await project.verb('migrate').ended
  t.deepEqual(project.calls(), [])
  const file = join(project.folder, 'package-lock.json')
  const lock = JSON.parse(readFileSync(file, 'utf8'))
  lock.packages['node_modules/ava'].version = '0.0.1'
  writeFileSync(file, JSON.stringify(lock))
  // The linked modules do not match this lock file either, so both attempts fail; the second begins with an empty node_modules.
  const run = project.verb('migrate')
  t.is(await run.ended, 1)
  t.is(project.calls().length, 2)
  t.regex(run.output(), /could not be installed/)
})

for (const { name, stop } of [
  { name: 'Ctrl-C', stop: (run: Run) => run.interrupt() },
  { name: 'kill -9', stop: (run: Run) => kill(run.pid, 'SIGKILL') },
]) {
  test(`install: ${name} during the installation ends npm, and a new start installs and runs`, async (t) => {
    const project = createEmpty({ seconds: 0 })
    t.teardown(() => project.remove())
    const first = project.verb('migrate', 600)
    await eventually(() => project.calls().some((call) => call !== ''))
    stop(first)
    t.not(await first.ended, 0)
    const second = project.verb('migrate')
    t.is(await second.ended, 0)
    t.regex(second.output(), /ran on v24\./)
    await nothingRunsIn(project.folder)
    t.is(project.calls().length, 2)
  })
}

test('install: a failed installation is repeated once from an empty folder, then reported', async (t) => {
  const project = createEmpty({ seconds: 0, exitCode: 1 })
  t.teardown(() => project.remove())
  mkdirSync(join(project.folder, 'node_modules', 'half'), { recursive: true })
  const run = project.verb('migrate')
  t.is(await run.ended, 1)
  t.is(project.calls().length, 2)
  t.false(existsSync(join(project.folder, 'node_modules', 'half')))
  t.regex(run.output(), /could not be installed: see what npm says above, then run the same command again\.\n$/)
})

test('install: an unknown verb is answered with the known ones', async (t) => {
  const project = createProject()
  t.teardown(() => project.remove())
  const run = project.run('node scripts/run.mjs begin')
  t.is(await run.ended, 1)
  t.regex(run.output(), /^Usage: node scripts\/run\.mjs <verb>, where verb is one of start, test, /)
  rmSync(join(project.folder, '.cache'), { recursive: true, force: true })
})
