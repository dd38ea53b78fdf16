import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import test from 'ava'
import { openSandbox, resultOf } from '#test/features/functions/sandbox/open-sandbox.ts'
import { buildLaunchCommand, confinementCommand, runnerFiles } from '#workers/features/functions/sandbox/runner/confinement.ts'

// Confinement that a machine does not offer cannot be tested; the wrapper names the tools that it offers.
const has = (tool: string): boolean => confinementCommand().some((part) => part.endsWith(`/${tool}`))
const onLinux = process.platform === 'linux' ? test : test.skip
const withUnshare = has('unshare') ? test : test.skip

onLinux('confinement: a runner has no environment, no privileges, no network of ours, no file but its pipes', async (t) => {
  const sandbox = openSandbox(t)
  await resultOf(t, sandbox, 'return 1')
  const at = `/proc/${sandbox.pids[0]}`
  t.is(readFileSync(`${at}/environ`, 'latin1').replaceAll('\0', ''), '')
  t.is(readlinkSync(`${at}/cwd`), '/')
  const status = readFileSync(`${at}/status`, 'latin1')
  if (has('setpriv')) t.regex(status, /NoNewPrivs:\t1/)
  if (has('unshare')) t.not(readlinkSync(`${at}/ns/net`), readlinkSync('/proc/self/ns/net'))
  if (confinementCommand().includes('--user')) t.regex(status, /CapEff:\t0+\n/)
  if (has('prlimit')) t.regex(readFileSync(`${at}/limits`, 'latin1'), /Max file size +0 +0 [\s\S]*Max core file size +0 +0 /)
  if (has('choom')) t.is(readFileSync(`${at}/oom_score_adj`, 'latin1'), '1000\n')
  const open = readdirSync(`${at}/fd`).map((fd) => readlinkSync(`${at}/fd/${fd}`))
  t.deepEqual(
    open.filter((target) => !/^(socket|pipe|anon_inode):|^\/dev\/null$|\.node$/.test(target)),
    [],
  )
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

withUnshare('confinement: the network of the machine is out of reach, loopback too', async (t) => {
  const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const program = `return new Promise((done) => require('node:net').connect(${port}, '127.0.0.1').on('connect', () => done('connected')).on('error', (error) => done(error.code)))`
  t.is(await confined(program), 'ENETUNREACH')
})
