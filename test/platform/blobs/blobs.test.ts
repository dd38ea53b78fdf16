import { createHash, randomBytes } from 'node:crypto'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { Blobs } from '#shared/platform/blobs/blobs.ts'
import { DiskStore } from '#shared/platform/blobs/disk-store.ts'
import { openBlobs } from '#shared/platform/blobs/open-blobs.ts'
import type { Database } from '#shared/platform/db/database.ts'
import { createHolders, deleteHolders, doomBlobs, holdBlob, readBlobs, replaceBlob } from '#test/platform/blobs/rows.ts'
import { startS3, type TestS3 } from '#test/platform/blobs/s3-server.ts'
import { partsWithLog } from '#test/platform/kernel/logged-parts.ts'
import { shareInThread } from '#test/support/share-in-thread.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { storedFiles } from '#test/support/stored-files.ts'
import { type World, world } from '#test/support/world.ts'

const never = new AbortController().signal

interface Place {
  readonly w: World
  readonly blobs: Blobs
  /** Ids of all bytes in the store. */
  readonly bytes: () => Promise<string[]>
  readonly s3: TestS3 | undefined
}

const onDisk = shareWorld(test, {}, { pools: [], key: 'blobs on disk' })
const s3Server = shareInThread(test, async () => {
  const ends: (() => unknown)[] = []
  const value = await startS3({ teardown: (end) => ends.push(end) })
  return { value, close: () => Promise.all(ends.map((end) => end())) }
})
const onS3 = shareWorld(test, async () => (await s3Server()).environment, { pools: [] })

const stores = {
  disk: async (t: ExecutionContext): Promise<Place> => {
    const w = await emptied(t, await onDisk())
    return { w, blobs: w.api.services.blobs, bytes: () => storedFiles(w), s3: undefined }
  },
  s3: async (t: ExecutionContext): Promise<Place> => {
    const [s3, w] = [await s3Server(), await emptied(t, await onS3())]
    return { w, blobs: w.api.services.blobs, bytes: async () => (await s3.keys()).map((key) => key.slice(-36)), s3 }
  },
}

/** Deletes all blobs when the test ends. */
async function emptied(t: ExecutionContext, w: World): Promise<World> {
  await createHolders(w.db)
  t.teardown(async () => {
    await deleteHolders(w.db)
    await w.api.services.blobs.sweep(never, 0)
  })
  return w
}

/** Why the store is another installation's. */
async function foreignStore(blobs: Blobs): Promise<string | undefined> {
  const state = await blobs.check()
  return state && 'foreign' in state ? state.foreign : undefined
}

async function* pieces(...of: Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* of
}

const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
const hold = ({ w }: Place, name: string, id: string) => holdBlob(w.db, w.org.id, name, id)
const read = async (blobs: Blobs, ...of: Parameters<Blobs['read']>) => Buffer.concat(await (await blobs.read(...of)).toArray())

for (const [kind, open] of Object.entries(stores)) {
  test(`blobs: ${kind}: a blob is read whole and in part, with its size and digest`, async (t) => {
    const place = await open(t)
    const { blobs, w } = place
    const bytes = randomBytes(1_000_003)
    const blob = await blobs.put(w.org.id, pieces(bytes.subarray(0, 10), bytes.subarray(10)))
    t.is(blob.sizeBytes, bytes.length)
    t.is(blob.sha256, digest(bytes))
    t.deepEqual(await read(blobs, blob.id), bytes)
    t.deepEqual(await read(blobs, blob.id, { start: 0, end: 0 }), bytes.subarray(0, 1))
    t.deepEqual(await read(blobs, blob.id, { start: 999_000, end: 1_000_002 }), bytes.subarray(999_000))
    const empty = await blobs.put(w.org.id, pieces())
    t.is(empty.sizeBytes, 0)
    t.is((await read(blobs, empty.id)).length, 0)
    await t.throwsAsync(blobs.read(w.org.id), { code: 'INTERNAL', message: /cannot serve these bytes/ })
  })

  test(`blobs: ${kind}: a blob stays while a row holds it, and for the grace period after that`, async (t) => {
    const place = await open(t)
    const { blobs, w } = place
    const [kept, replaced, loose] = await Promise.all([1, 2, 3].map((byte) => blobs.put(w.org.id, pieces(Buffer.alloc(10, byte)))))
    if (!kept || !replaced || !loose) return t.fail()
    await hold(place, 'a', kept.id)
    await hold(place, 'b', replaced.id)
    await replaceBlob(w.db, 'b', kept.id)
    t.is(await blobs.sweep(never), 0, 'both are younger than the grace period')
    t.is(await blobs.sweep(never, 0), 2)
    t.deepEqual(await readBlobs(place.w.db), [{ id: kept.id, holders: 2, doomed: false }])
    t.deepEqual(await place.bytes(), [kept.id])
    await t.throwsAsync(hold(place, 'c', loose.id), { message: /is not kept any more/ })
    await deleteHolders(w.db)
    t.is(await blobs.sweep(never, 0), 1)
    t.deepEqual(await place.bytes(), [])
  })

  test(`blobs: ${kind}: a stream that fails stores nothing, and its error is thrown`, async (t) => {
    const place = await open(t)
    const failing = async function* () {
      yield Buffer.alloc(600_000)
      throw new Error('the sender has gone')
    }
    await t.throwsAsync(place.blobs.put(place.w.org.id, failing()), { message: 'the sender has gone' })
    t.deepEqual(await readBlobs(place.w.db), [])
    t.deepEqual(await place.bytes(), [])
  })

  test(`blobs: ${kind}: a read that has begun completes although the blob is swept meanwhile`, async (t) => {
    const { blobs, w } = await open(t)
    const bytes = randomBytes(3_000_000)
    const { id } = await blobs.put(w.org.id, pieces(bytes))
    const stream = await blobs.read(id)
    const read = stream.iterator()
    const first = (await read.next()).value
    if (kind === 'disk') t.is(await blobs.sweep(never, 0), 1)
    const rest = await Array.fromAsync({ [Symbol.asyncIterator]: () => read })
    t.is(digest(Buffer.concat([first, ...rest])), digest(bytes))
  })

  test(`blobs: ${kind}: the next sweep deletes the blobs that a killed process marked and did not delete`, async (t) => {
    const place = await open(t)
    const { blobs, w } = place
    const { id } = await blobs.put(w.org.id, pieces(Buffer.from('x')))
    await doomBlobs(w.db)
    await t.throwsAsync(hold(place, 'a', id), { message: /is not kept any more/ })
    t.is(await blobs.sweep(never, 0), 1)
    t.deepEqual(await place.bytes(), [])
    t.deepEqual(await readBlobs(place.w.db), [])
  })
}

test('blobs: disk: a folder of another installation is refused with the reason', async (t) => {
  const w = await world({}, [])
  t.teardown(w.close)
  t.is((await w.visitor.get('/readyz')).status, 200)
  const { fileStore } = w.api.services.parts
  const elsewhere = new Blobs(w.api.services.database, new DiskStore(join(w.config.dataDir, 'elsewhere')), 3600, fileStore)
  t.regex((await foreignStore(elsewhere)) ?? '', /several machines need S3/)
  await t.throwsAsync(elsewhere.put(w.org.id, pieces(Buffer.from('x'))), { code: 'UNAVAILABLE' })
  await rm(join(w.config.dataDir, 'blobs'), { recursive: true, force: true })
  const answer = await w.visitor.get('/readyz')
  t.is(answer.status, 503)
  t.regex(answer.body.reason, /several machines need S3/)
})

test('blobs: disk: while the folder is gone, reads and writes are UNAVAILABLE, and nothing is written beside it', async (t) => {
  const w = await world({ LOG_LEVEL: 'silent' }, [])
  t.teardown(w.close)
  const { blobs } = w.api.services
  const [folder, away] = [join(w.config.dataDir, 'blobs'), join(w.config.dataDir, 'elsewhere')]
  const { id } = await blobs.put(w.org.id, pieces(Buffer.from('x')))
  await rename(folder, away)
  await mkdir(folder)
  await t.throwsAsync(blobs.read(id), { code: 'UNAVAILABLE' })
  await t.throwsAsync(blobs.put(w.org.id, pieces(Buffer.from('y'))), { code: 'UNAVAILABLE' })
  t.deepEqual(await readdir(folder), [])
  await rm(folder, { recursive: true })
  await rename(away, folder)
  t.is(String(await read(blobs, id)), 'x')
  await blobs.put(w.org.id, pieces(Buffer.from('y')))
})

test('blobs: the free bytes of the spool are a metric', async (t) => {
  const { w } = await stores.disk(t)
  const metrics = await (await fetch(`http://127.0.0.1:${w.api.port}/metrics`)).text()
  t.regex(metrics, /^kontor_spool_free_bytes [1-9]/m)
})

test('blobs: an installation moves to a bucket when its disk holds no file', async (t) => {
  const place = await stores.disk(t)
  const { w } = place
  const s3 = await startS3(t)
  const { id } = await place.blobs.put(w.org.id, pieces(Buffer.from('x')))
  await hold(place, 'a', id)
  const settings = { ...w.config, s3: { bucket: 'kontor', region: 'us-east-1', accessKeyId: 'a', secretAccessKey: 'b', pathStyle: true } }
  const config = { ...settings, s3: { ...settings.s3, endpoint: s3.environment.S3_ENDPOINT ?? '' } }
  const bucket = await openBlobs(config, w.api.services.database, w.api.services.parts.fileStore)
  t.teardown(() => bucket.close())
  t.regex((await foreignStore(bucket)) ?? '', /are in another DATA_DIR/)
  await t.throwsAsync(bucket.put(w.org.id, pieces(Buffer.from('x'))), { code: 'UNAVAILABLE' })
  await deleteHolders(w.db)
  await place.blobs.sweep(never, 0)
  t.is(await bucket.check(), undefined)
  await bucket.put(w.org.id, pieces(Buffer.from('x')))
  t.regex((await foreignStore(place.blobs)) ?? '', /another S3 bucket/)
})

test('blobs: s3: callers notice nothing when one call in five fails and one response in three is cut', async (t) => {
  const { blobs, w, s3, bytes } = await stores.s3(t)
  if (!s3) return t.fail()
  Object.assign(s3.trouble, { failures: 0.2, cuts: 0.3 })
  const contents = Array.from({ length: 12 }, (_, index) => randomBytes(40_000 * (index + 1)))
  const put = await Promise.all(contents.map((content) => blobs.put(w.org.id, pieces(content))))
  for (const [index, { id }] of put.entries()) t.is(digest(await read(blobs, id)), digest(contents[index] ?? Buffer.alloc(0)))
  t.is((await bytes()).length, 12)
})

test('blobs: a database that gives no answer says nothing about the store', async (t) => {
  const { parts, lines } = partsWithLog()
  const silent = { query: () => new Promise(() => undefined) } as unknown as Database
  const blobs = new Blobs(silent, new DiskStore(join(tmpdir(), 'never-asked')), 3600, parts.fileStore)
  t.deepEqual(await blobs.check(), { away: 'The file store is out of reach: no answer' })
  t.deepEqual([parts.fileStore.isUp, lines], [true, []])
})

test('blobs: s3: an unreachable service is reported, and nothing is stored', async (t) => {
  const { blobs, w, s3 } = await stores.s3(t)
  if (!s3) return t.fail()
  await blobs.put(w.org.id, pieces(Buffer.from('x')))
  s3.trouble.failures = 1
  // Before any call needs it.
  t.regex((await w.visitor.get('/metrics')).text, /^kontor_file_store_up 0$/m)
  await t.throwsAsync(blobs.put(w.org.id, pieces(Buffer.from('x'))), { code: 'UNAVAILABLE', message: /cannot be reached; try again/ })
  const { status, body } = await w.visitor.get('/readyz')
  t.deepEqual([status, body.status], [200, 'ready'])
  t.regex(body.parts['file store'], /^The file store is out of reach: /)
  s3.trouble.failures = 0
  t.is((await w.visitor.get('/readyz')).body.parts['file store'], 'up')
  await blobs.sweep(never, 0)
  t.deepEqual(await readBlobs(w.db), [])
})
