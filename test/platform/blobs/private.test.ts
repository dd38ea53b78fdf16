import { chmod, mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { startApiProcess } from '#test/support/api-process.ts'
import { world } from '#test/support/world.ts'

/** Files of an earlier release, and files of others. */
async function leave(folder: string): Promise<void> {
  for (const path of ['blobs/zz', 'mail', 'spool']) await mkdir(join(folder, path), { recursive: true })
  const files = ['blobs/zz/old', 'mail/old.eml', 'spool/old', 'bootstrap.json', 'secret-key', 'database-url', 'notes.txt']
  for (const path of files) {
    await writeFile(join(folder, path), 'old')
    await chmod(join(folder, path), 0o644)
  }
  for (const path of ['', 'blobs', 'blobs/zz', 'mail', 'spool']) await chmod(join(folder, path), 0o755)
}

/** Entries of a folder that others than its owner may use. */
async function openIn(folder: string): Promise<string[]> {
  const paths = ['.', ...(await readdir(folder, { recursive: true }))]
  const modes = await Promise.all(paths.map(async (path) => [path, (await stat(join(folder, path))).mode & 0o777] as const))
  return modes.filter(([, mode]) => (mode & 0o077) !== 0).map(([path, mode]) => `${path} ${mode.toString(8)}`)
}

const onUnix = process.platform === 'win32' ? test.skip : test

for (const umask of ['022', '000']) {
  onUnix(`private: under umask ${umask} DATA_DIR is private to its owner, also existing files, and foreign files stay`, async (t) => {
    const w = await world()
    t.teardown(w.close)
    const folder = w.config.dataDir
    await mkdir(folder, { recursive: true })
    await leave(folder)
    const api = (await startApiProcess(t, w, {}, umask)).as(w.org.owner.token)
    t.deepEqual(await openIn(folder), ['notes.txt 644'])
    const form = new FormData()
    form.set('file', new Blob(['text']), 'a.txt')
    const [bucket] = (await api.get(`${w.org.path}/drive/buckets`)).data.buckets
    t.is((await api.post(`${w.org.path}/drive/buckets/${bucket.id}/objects`, form)).status, 201)
    t.is((await api.post(`${w.org.path}/members`, { email: 'guest@example.com' })).status, 201)
    await w.drain()
    const files = await readdir(folder, { recursive: true })
    t.true(files.filter((path) => path.startsWith('mail/')).length > 1)
    t.true(files.filter((path) => path.startsWith('blobs/')).length > 3)
    t.deepEqual(await openIn(folder), ['notes.txt 644'])
  })
}
