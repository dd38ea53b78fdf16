import { join } from 'node:path'
import { Blobs } from '#shared/blobs/blobs.ts'
import type { ByteStore } from '#shared/blobs/byte-store.ts'
import { DiskStore } from '#shared/blobs/disk.ts'
import type { Database } from '#shared/db/database.ts'
import type { Config } from '#shared/kernel/config.ts'

/** Opens the store that the configuration names, watched where its process tells of itself. It is not asked for anything before it is used. Close it. */
export const openBlobs = async (config: Config, database: Database, watch = (store: ByteStore) => store): Promise<Blobs> =>
  new Blobs(database, watch(await storeOf(config)), config.driveSweepSeconds)

/** The store that a configuration names. */
export async function storeOf({ s3, dataDir }: Pick<Config, 's3' | 'dataDir'>): Promise<ByteStore> {
  if (!s3) return new DiskStore(join(dataDir, 'blobs'))
  // Loading the client takes a process a good while, which those with a disk need not wait for.
  const { S3Store } = await import('#shared/blobs/s3.ts')
  return new S3Store(s3, dataDir)
}
