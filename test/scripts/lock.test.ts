import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { takeLock, waitForLock } from '#scripts/lock.mjs'

function temporaryFolder(t: ExecutionContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'kontor-lock-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  return folder
}

/** Another process that takes the lock and keeps it until it is killed. */
async function holdElsewhere(file: string): Promise<{ pid: number; kill: () => Promise<void> }> {
  const module = resolve(import.meta.dirname, '..', '..', 'scripts', 'lock.mjs')
  const script = `import { takeLock } from ${JSON.stringify(module)}; console.log(await takeLock(${JSON.stringify(file)})); setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  return {
    pid: child.pid ?? 0,
    kill: async () => {
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

test('lock: one process gets the lock, others learn the holder and can take it after its release', async (t) => {
  const file = join(temporaryFolder(t), 'lock')
  const first = await takeLock(file, () => 'the first')
  t.deepEqual(await takeLock(file), { taken: false, holder: 'the first' })
  if (first.taken) first.release()
  const second = await takeLock(file)
  t.true(second.taken)
})

test('lock: only the owner reaches the socket of a lock', async (t) => {
  const file = join(temporaryFolder(t), 'lock')
  const lock = await takeLock(file)
  t.teardown(() => lock.taken && lock.release())
  const modes = ['.', ...readdirSync(file)].map((name) => statSync(join(file, name)).mode & 0o777)
  t.deepEqual(modes, process.platform === 'win32' ? modes : [0o700, 0o600])
})

test('lock: kill -9 of the holder frees the lock', async (t) => {
  const file = join(temporaryFolder(t), 'lock')
  const holder = await holdElsewhere(file)
  t.deepEqual(await takeLock(file), { taken: false, holder: String(holder.pid) })
  const waiting = waitForLock(file)
  await holder.kill()
  t.true((await waiting).taken)
})

test('lock: one of 20 processes that find a dead holder gets the lock', async (t) => {
  const folder = temporaryFolder(t)
  const file = join(folder, 'lock')
  const holder = await holdElsewhere(file)
  await holder.kill()
  const locks = await Promise.all(Array.from({ length: 20 }, () => takeLock(file)))
  t.is(locks.filter((lock) => lock.taken).length, 1)
  t.is(readdirSync(file).length, 1)
})

test('lock: a path may be longer than the address of a socket', async (t) => {
  const file = join(temporaryFolder(t), 'long'.repeat(50), 'lock')
  t.true((await takeLock(file)).taken)
  t.false((await takeLock(file)).taken)
})
