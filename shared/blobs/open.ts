import { join } from 'node:path'
import { Blobs } from '#shared/blobs/blobs.ts'
import type { ByteStore } from '#shared/blobs/byte-store.ts'
import { DiskStore } from '#shared/blobs/disk.ts'
import type { Database } from '#shared/db/database.ts'
import type { Config } from '#shared/kernel/config.ts'

/**
 * Opens the configured store, wrapped by `watch` where the process exports metrics. Makes no call before the first use. The caller must
 * close it.
 */
export const openBlobs = async (config: Config, database: Database, watch = (store: ByteStore) => store): Promise<Blobs> =>
  new Blobs(database, watch(await storeOf(config)), config.driveSweepSeconds)

/** Creates the configured store. */
export async function storeOf({ s3, dataDir }: Pick<Config, 's3' | 'dataDir'>): Promise<ByteStore> {
  if (!s3) return new DiskStore(join(dataDir, 'blobs'))
  // The S3 client is slow to load, so processes with a disk store do not load it.
  const { S3Store } = await import('#shared/blobs/s3.ts')
  return new S3Store(s3, dataDir)
}
