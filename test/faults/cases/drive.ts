import { randomBytes } from 'node:crypto'
import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { readConfig } from '#shared/platform/kernel/config.ts'
import type { FaultCase, Figures } from '#test/faults/case.ts'
import { mountDisk } from '#test/faults/disk.ts'
import { filesAreWhole } from '#test/faults/drive/settle.ts'
import { difference, isSame, look, writeUntil } from '#test/faults/drive/writer.ts'
import { seconds } from '#test/faults/measure.ts'
import { openSite, type Site } from '#test/faults/site.ts'
import { firstSpaces, spaceOf } from '#test/features/drive/support.ts'
import { startS3 } from '#test/platform/blobs/s3-server.ts'
import { eventually } from '#test/support/eventually.ts'

const writers = 12

/** The storage of a case's files. */
interface FileStore {
  readonly environment: Readonly<Record<string, string>>
  readonly storedIds: () => Promise<readonly string[]>
}

/** The extent of a case. */
interface Extent {
  readonly kills: number
  readonly operations: number
}

const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/

/** Names of all files in a folder that are blobs, including incomplete ones. */
async function blobsIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => entry.isFile() && uuid.test(entry.name)).map(({ name }) => name)
}

/** Resolves once no earlier transaction is open: a killed process's transaction may still be committing. */
async function quiet({ db }: Site): Promise<void> {
  const { rows } = await db.query('select clock_timestamp() as now')
  const open = `select from pg_stat_activity where datname = current_database() and application_name = 'kontor api' and xact_start < $1`
  await eventually(async () => (await db.query(open, [rows[0].now])).rowCount === 0)
}

/**
 * Writers upload, replace, move and delete in their own folders while an API is killed repeatedly, mostly during an upload. Each folder is
 * as its writer expects, and in the end every file is complete and no other byte is left.
 */
export async function runDrive(store: FileStore, { kills, operations }: Extent, site: Site): Promise<Figures> {
  const { shared } = await firstSpaces(site.org.owner, site.org)
  let done = 0
  let killed = 0
  const isOver = () => killed >= kills && done >= operations
  const acknowledged = () => {
    done += 1
  }
  const roots = site.apis.map(({ root }) => root)
  const writing = Array.from({ length: writers }, (_, index) =>
    writeUntil({ isOver, acknowledged, roots, org: site.org, spaceId: shared, quiet: () => quiet(site) }, `writer ${index}/`),
  )
  for (; killed < kills; killed++) {
    await delay(100 + Math.random() * 400)
    const api = site.apis[killed % site.apis.length]
    await api?.kill()
    await api?.start()
  }
  const written = await Promise.all(writing)
  const space = spaceOf(site.org.owner, site.org, shared)
  const wrong = written.flatMap(({ wrong }) => wrong)
  for (const [index, { files }] of written.entries()) {
    const found = await look([space], `writer ${index}/`)
    if (!isSame(found, files)) wrong.push(`The folder of writer ${index} is not what it wrote: ${difference(found, files)}`)
  }
  for (const worker of site.workers) await worker.stop()
  const config = readConfig({
    ...store.environment,
    DATABASE_URL: site.config.databaseUrl,
    DATA_DIR: site.config.dataDir,
    SECRET_KEY: randomBytes(32).toString('hex'),
  })
  wrong.push(...(await filesAreWhole(config, site.db, store.storedIds)))
  const slowest = Math.max(...written.map(({ slowestMs }) => slowestMs))
  const sum = (of: (one: (typeof written)[number]) => number) => written.reduce((total, one) => total + of(one), 0)
  return {
    faults: kills,
    acknowledged: sum(({ operations, unknown }) => operations - unknown),
    lost: 0,
    repeated: 0,
    hung: slowest > 10_000 ? 1 : 0,
    givenUp: 0,
    failed: sum(({ unknown }) => unknown),
    slowest: { ms: slowest, what: 'an operation of the drive' },
    note: `${sum(({ files }) => files.size)} files at the end, slowest operation ${seconds(slowest)}`,
    wrong,
  }
}

const extent: Extent = { kills: 50, operations: 5_000 }

export const driveKilledOnDisk: FaultCase = {
  name: 'drive on a disk, kill -9 of an API',
  limitSeconds: 600,
  run: async (t) => {
    const site = await openSite(t)
    return runDrive({ environment: {}, storedIds: () => blobsIn(join(site.config.dataDir, 'blobs')) }, extent, site)
  },
}

export const driveKilledOnS3: FaultCase = {
  name: 'drive on S3 that fails in 5 % of calls, kill -9 of an API',
  limitSeconds: 600,
  run: async (t) => {
    const s3 = await startS3(t)
    const site = await openSite(t, { environment: s3.environment })
    Object.assign(s3.trouble, { failures: 0.05, cuts: 0.05 })
    const storedIds = async () => (await s3.keys()).map((key) => key.slice(-36))
    return runDrive({ environment: s3.environment, storedIds }, extent, site)
  },
}

/**
 * The disk of the files is full: an upload is refused and leaves nothing behind, other requests continue, and uploads succeed again once
 * there is space.
 */
export const fileDiskFull: FaultCase = {
  name: 'the disk of the files is full',
  limitSeconds: 120,
  run: async (t) => {
    const site = await openSite(t)
    const folder = join(site.config.dataDir, 'blobs')
    const space = spaceOf(site.org.owner, site.org, (await firstSpaces(site.org.owner, site.org)).shared)
    for (const api of site.apis) await api.stop()
    await mkdir(folder, { recursive: true })
    const disk = await mountDisk(t, folder, 16)
    if (!disk) return { skipped: 'this process may not mount a small disk' }
    await site.db.query('delete from blob_store')
    for (const api of site.apis) await api.start()
    const wrong: string[] = []
    const first = await space.put('before', randomBytes(1_000_000))
    if (first.status !== 201) wrong.push(`An upload before was answered ${first.status}`)
    await disk.fill()
    const refused = await space.put('while full', randomBytes(2_000_000))
    if (refused.status !== 503 || !/no room/.test(refused.text))
      wrong.push(`While full an upload was answered ${refused.status} ${refused.text}`)
    const half = (await blobsIn(folder)).filter((name) => name.endsWith('.half'))
    if (half.length > 0) wrong.push(`${half.length} half files are left`)
    if ((await space.download('before')).status !== 200) wrong.push('A file cannot be read while the disk is full')
    await disk.free()
    const after = await space.put('after', randomBytes(2_000_000))
    if (after.status !== 201) wrong.push(`With room again an upload was answered ${after.status}`)
    const { rows } = await site.db.query('select from blobs where holders = 0')
    if (rows.length > 0) wrong.push(`${rows.length} blobs are noted that nothing holds`)
    return {
      faults: 1,
      acknowledged: 2,
      lost: 0,
      repeated: 0,
      hung: 0,
      failed: 1,
      givenUp: 0,
      wrong,
      slowest: { ms: 0, what: 'an upload' },
    }
  },
}
