import { join } from 'node:path'
import { Blobs } from '#shared/platform/blobs/blobs.ts'
import type { ByteStore } from '#shared/platform/blobs/byte-store.ts'
import { DiskStore } from '#shared/platform/blobs/disk-store.ts'
import type { Database } from '#shared/platform/db/database.ts'
import type { Config } from '#shared/platform/kernel/config.ts'
import type { Part } from '#shared/platform/kernel/process/part.ts'

/**
 * Opens the configured store, wrapped by `watch` where the process exports metrics; `part` learns whether it is there. Makes no call before
 * the first use. The caller must close it.
 */
export async function openBlobs(config: Config, database: Database, part: Part, watch = (store: ByteStore) => store): Promise<Blobs> {
  const blobs = new Blobs(database, watch(await openByteStore(config)), config.driveSweepSeconds, part)
  part.probeWith(() => blobs.probe())
  return blobs
}

/** Creates the configured store. */
export async function openByteStore({ s3, dataDir }: Pick<Config, 's3' | 'dataDir'>): Promise<ByteStore> {
  if (!s3) return new DiskStore(join(dataDir, 'blobs'))
  // The S3 client is slow to load, so processes with a disk store do not load it.
  const { S3Store } = await import('#shared/platform/blobs/s3-store.ts')
  return new S3Store(s3, dataDir)
}
