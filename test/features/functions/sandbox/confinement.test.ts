import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import test, { type ExecutionContext } from 'ava'
import { needs } from '#test/features/functions/sandbox/confined.ts'
import { openSandbox, resultOf } from '#test/features/functions/sandbox/open-sandbox.ts'
import { startProcess } from '#test/support/process.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import {
  buildLaunchCommand,
  confinement,
  confinementNeeds,
  findConfinement,
  reportConfinement,
  runnerFiles,
} from '#workers/features/functions/sandbox/runner/confinement.ts'

const onLinux = process.platform === 'linux' ? test : test.skip // Reads /proc.

onLinux('confinement: a runner has no environment, no network of ours, no file but its pipes', async (t) => {
  const sandbox = openSandbox(t)
  await resultOf(t, sandbox, 'return 1')
  const at = `/proc/${sandbox.pids[0]}`
  t.is(readFileSync(`${at}/environ`, 'latin1').replaceAll('\0', ''), '')
  t.is(readlinkSync(`${at}/cwd`), '/')
  const open = readdirSync(`${at}/fd`).map((fd) => readlinkSync(`${at}/fd/${fd}`))
  t.deepEqual(
    open.filter((target) => !/^(socket|pipe|anon_inode):|^\/dev\/null$|\.node$/.test(target)),
    [],
  )
})

/** What the kernel says of each confinement about a process. */
const signs = {
  user: [(at: string) => readFileSync(`${at}/status`, 'latin1'), /CapEff:\t0+\n/],
  network: [(at: string) => readlinkSync(`${at}/ns/net`), { test: (name: string) => name !== readlinkSync('/proc/self/ns/net') }],
  privileges: [(at: string) => readFileSync(`${at}/status`, 'latin1'), /NoNewPrivs:\t1/],
  files: [(at: string) => readFileSync(`${at}/limits`, 'latin1'), /Max file size +0 +0 [\s\S]*Max core file size +0 +0 /],
  first_to_end: [(at: string) => readFileSync(`${at}/oom_score_adj`, 'latin1'), /^1000\n$/],
} as const

for (const [name, [read, expected]] of Object.entries(signs)) {
  needs(name as keyof typeof signs)(`confinement: ${name} holds for a runner, as the worker says`, async (t) => {
    const sandbox = openSandbox(t)
    await resultOf(t, sandbox, 'return 1')
    t.true(confinement().holds[name as keyof typeof signs])
    t.true(expected.test(read(`/proc/${sandbox.pids[0]}`)), read(`/proc/${sandbox.pids[0]}`))
  })
}

needs('memory')('confinement: memory is counted in the pages of this machine', (t) => {
  const [, size = ''] = /^KernelPageSize: +(\d+) kB$/m.exec(readFileSync('/proc/self/smaps', 'latin1')) ?? []
  t.is(confinement().pageBytes, Number(size) * 1_024)
})

/** A folder with these tools; those with a text are replaced by a program of it. */
function toolFolder(t: ExecutionContext, tools: Readonly<Record<string, string | null>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'kontor-tools-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  for (const [name, program] of Object.entries(tools)) {
    if (program === null) symlinkSync(['/usr/bin', '/bin'].map((one) => join(one, name)).find(existsSync) ?? '', join(folder, name))
    else writeFileSync(join(folder, name), program, { mode: 0o755 })
  }
  return folder
}

onLinux('confinement: tools that are missing or fail are left out, named, and where all are required a refusal', (t) => {
  const logged: unknown[][] = []
  const log = {
    info: (...given: unknown[]) => logged.push(['info', ...given]),
    warn: (...given: unknown[]) => logged.push(['warn', ...given]),
  }
  const pass = '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done; shift; exec "$@"\n'
  const some = { unshare: '#!/bin/sh\nexit 1\n', setpriv: pass, choom: pass, getconf: '#!/bin/sh\necho 65536\n' }
  const found = findConfinement([toolFolder(t, some)])
  t.deepEqual(found.holds, { user: false, network: false, privileges: true, files: false, first_to_end: true, memory: true })
  t.is(found.pageBytes, 65_536)
  t.deepEqual(
    found.command.filter((part) => part.startsWith('/')).map((part) => part.split('/').at(-1)),
    ['setpriv', 'choom'],
  )
  reportConfinement('available', found, log as never)
  const text = `functions run without user (needs ${confinementNeeds.user}); network (needs ${confinementNeeds.network}); files (needs the program prlimit (package util-linux))`
  t.deepEqual(logged, [['warn', { confinement: found.holds }, text]])
  const refusal = t.throws(() => reportConfinement('required', found, log as never), { code: 'START_REFUSED' })
  t.regex(refusal.message, /^FUNCTIONS_CONFINEMENT is required, and functions would run without user \(needs .*prlimit/)

  const none = findConfinement([toolFolder(t, {})])
  t.deepEqual([none.command, none.pageBytes, Object.values(none.holds).some(Boolean)], [[], 4_096, false])
  const netOnly = '#!/bin/sh\n[ "$1" = --net ] || exit 1; shift 2; exec "$@"\n'
  t.like(findConfinement([toolFolder(t, { unshare: netOnly })]).holds, { user: false, network: true })
})

const shared = shareWorld(test, {}, { pools: [] })

onLinux('confinement: a worker of functions logs once what holds, and its metrics say the same', async (t) => {
  const w = await shared()
  const child = await startProcess(t, w, 'functions', { LOG_LEVEL: 'info' })
  const lines: { readonly confinement?: object; readonly port?: number; readonly msg: string }[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(JSON.parse(line))
    if (lines.at(-1)?.msg === 'worker ready') break
  }
  const { holds } = confinement()
  t.deepEqual(
    lines.flatMap((line) => line.confinement ?? []),
    [holds],
  )
  const metrics = await (await fetch(`http://127.0.0.1:${lines.at(-1)?.port}/metrics`)).text()
  for (const [name, value] of Object.entries(holds)) {
    t.true(metrics.includes(`kontor_function_confinement{confinement="${name}"} ${value ? 1 : 0}\n`), name)
  }
})

/** Runs a program in place of a runner, and returns its output to the pipe. */
async function confined(program: string): Promise<unknown> {
  const { command, args } = buildLaunchCommand(runnerFiles())
  const child = spawn(command, args, { env: {}, cwd: '/', stdio: ['pipe', 'ignore', 'ignore', 'pipe'] })
  child.stdin?.end(`const pipe = new (require('node:net').Socket)({ fd: 3 }); Promise.resolve((async () => { ${program} })())
    .then((value) => pipe.end(JSON.stringify(value)), (error) => pipe.end(JSON.stringify(String(error))))`)
  return JSON.parse(await text(child.stdio[3] as Readable))
}

test('confinement: the program of a runner cannot read or write files, start processes or inspect others', async (t) => {
  const tries = {
    'read a file of the system': "require('node:fs').readFileSync('/etc/passwd')",
    'read a file of the project': `require('node:fs').readFileSync(${JSON.stringify(new URL('../../../../package.json', import.meta.url).pathname)})`,
    'list a folder': "require('node:fs').readdirSync('/')",
    'write a file': "require('node:fs').writeFileSync('/tmp/kontor-runner', '')",
    'start a program': "require('node:child_process').execFileSync('/bin/true')",
    'start a thread': "new (require('node:worker_threads').Worker)('1', { eval: true })",
    'open the inspector': "require('node:inspector').open(0)",
    'load WASI': "new (require('node:wasi').WASI)({ version: 'preview1' })",
  }
  for (const [name, code] of Object.entries(tries)) {
    t.is(await confined(`try { ${code}; return 'done' } catch (error) { return error.code }`), 'ERR_ACCESS_DENIED', name)
  }
  t.deepEqual(await confined('return process.env'), {})
})

needs('network')('confinement: the network of the machine is out of reach, loopback too', async (t) => {
  const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const program = `return new Promise((done) => require('node:net').connect(${port}, '127.0.0.1').on('connect', () => done('connected')).on('error', (error) => done(error.code)))`
  t.is(await confined(program), 'ENETUNREACH')
})
