import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { DiskStore } from '#shared/platform/blobs/disk-store.ts'
import { callWith } from '#test/bin/call.ts'
import { countUnmeasured, forgetMeasures, readBlobId } from '#test/bin/rows.ts'
import { firstSpaces, spaceOf } from '#test/features/drive/support.ts'
import { startS3 } from '#test/platform/blobs/s3-server.ts'
import { world } from '#test/support/world.ts'

async function temporaryFolder(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'kontor-backup-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return folder
}

const pathIn = (folder: string, id: string): string => join(folder, 'blobs', id.slice(-2), id)

/** A world with the files a, b and c, an empty folder, and the commands. */
async function opened(t: ExecutionContext, store: Readonly<Record<string, string>> = {}) {
  const w = await world(store, [])
  t.teardown(w.close)
  const space = spaceOf(w.org.owner, w.org, (await firstSpaces(w.org.owner, w.org)).shared)
  for (const name of ['a', 'b', 'c']) t.is((await space.put(name, `file ${name}`)).status, 201)
  const environment = {
    ...store,
    DATABASE_URL: w.config.databaseUrl,
    DATA_DIR: w.config.dataDir,
    SECRET_KEY: w.config.secretKey.toString('hex'),
  }
  const folder = await temporaryFolder(t)
  const run = (verb: 'files' | 'check', root = folder) => callWith(environment, 'backup', verb, root, '--json')
  return { w, space, folder, run, idOf: (key: string) => readBlobId(w.db, w.org.id, key) }
}

for (const kind of ['disk', 's3'])
  test(`backup: ${kind}: files are copied once, with their bytes, and match their rows`, async (t) => {
    const { space, folder, run, idOf } = await opened(t, kind === 's3' ? { ...(await startS3(t)).environment } : {})
    t.deepEqual((await run('files')).json, { copied: 3, copied_bytes: 18, present: 0, failures: [] })
    t.deepEqual((await run('files')).json, { copied: 0, copied_bytes: 0, present: 3, failures: [] })
    t.is((await space.put('d', 'file d')).status, 201)
    const early = await run('check')
    t.is(early.code, 1)
    t.like(early.json, { intact: 3, faults: { length: 1 } })
    t.regex(early.json.faults[0], new RegExp(`^${await idOf('d')} of workspace .* is missing$`))
    t.like((await run('files')).json, { copied: 1, present: 3 })
    const { code, json } = await run('check')
    t.is(code, 0)
    t.deepEqual(json, { intact: 4, unmeasured: 0, unnamed: 0, faults: [] })
    // The folder is a disk store, and its paths are the keys of a bucket.
    t.is(await readFile(pathIn(folder, await idOf('a')), 'utf8'), 'file a')
    const bytes = await (await new DiskStore(join(folder, 'blobs')).read(await idOf('d'))).toArray()
    t.is(Buffer.concat(bytes).toString(), 'file d')
    t.is(await readFile(join(folder, 'kontor-store-id'), 'utf8'), await readFile(join(folder, 'blobs', 'store-id'), 'utf8'))
  })

test('backup: a copy that is missing or differs is named, and one of a deleted file is only counted', async (t) => {
  const { space, folder, run, idOf } = await opened(t)
  await run('files')
  const [a, b] = [await idOf('a'), await idOf('b')]
  await rm(pathIn(folder, a))
  await writeFile(pathIn(folder, b), 'FILE b')
  t.is((await space.remove('c')).status, 200)
  const { code, json } = await run('check')
  t.is(code, 1)
  t.like(json, { intact: 0, unnamed: 1 })
  t.deepEqual(json.faults.map((fault: string) => fault.slice(0, 36)).sort(), [a, b].sort())
  t.true(json.faults.some((fault: string) => fault.endsWith('is missing')))
  t.true(json.faults.some((fault: string) => fault.endsWith('the digest differs')))
})

test('backup: bytes in the store that differ from their row are named and not copied', async (t) => {
  const { w, folder, run, idOf } = await opened(t)
  const a = await idOf('a')
  await writeFile(pathIn(w.config.dataDir, a), 'FILE a')
  const { code, json } = await run('files')
  t.is(code, 1)
  t.like(json, { copied: 2, failures: { length: 1 } })
  t.regex(json.failures[0], new RegExp(`^${a} of workspace .* have the digest`))
  await t.throwsAsync(readFile(pathIn(folder, a)), { code: 'ENOENT' })
})

test('backup: a copy that was interrupted is made again', async (t) => {
  const { folder, run, idOf } = await opened(t)
  await run('files')
  const a = await idOf('a')
  await writeFile(pathIn(folder, a), 'fil')
  await writeFile(`${pathIn(folder, a)}.half`, 'fi')
  t.like((await run('files')).json, { copied: 1, present: 2, failures: [] })
  t.is((await run('check')).code, 0)
})

test('backup: files of earlier releases get the digest of their first copy', async (t) => {
  const { w, run } = await opened(t)
  await forgetMeasures(w.db)
  t.like((await run('check')).json, { intact: 0, faults: { length: 3 } })
  t.like((await run('files')).json, { copied: 3 })
  t.is(await countUnmeasured(w.db), 0)
  t.like((await run('check')).json, { intact: 3, unmeasured: 0 })
})

test('backup: a folder of another installation is refused', async (t) => {
  const [one, other] = [await opened(t), await opened(t)]
  await one.run('files')
  const { code, json } = await other.run('files', one.folder)
  t.is(code, 2)
  t.regex(json.error.message, /holds the files of another installation/)
})
