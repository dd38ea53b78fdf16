import type { ByteStore } from '#shared/platform/blobs/byte-store.ts'
import { findStore, insertStore, replaceStore } from '#shared/platform/blobs/store.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { newId } from '#shared/platform/kernel/ids.ts'

/** The id of the installation's store, or why this store is not it, as a message for the operator. */
type StoreIdentity = { readonly id: string } | { readonly fault: string }

type Identified = Pick<ByteStore, 'kind' | 'identity' | 'identify'>

/**
 * Checks whether a store is the one that holds the installation's files. The first store used becomes the installation's store; a store of
 * the other kind replaces it as long as the installation has no blobs. Throws when the store or the database is unreachable.
 */
export async function findStoreIdentity(db: Executor, store: Identified): Promise<StoreIdentity> {
  const known = (await db.query(findStore()))[0]
  const storeId = await store.identity()
  if (!known) {
    await db.query(insertStore({ kind: store.kind, id: storeId ?? (await createStoreId(store)) }))
    return findStoreIdentity(db, store)
  }
  if (storeId === known.id) return known
  if (known.kind !== store.kind) {
    if (known.is_used) return { fault: faults[known.kind] }
    await db.query(replaceStore({ kind: store.kind, id: storeId ?? (await createStoreId(store)) }))
    return findStoreIdentity(db, store)
  }
  // Several processes may start on a new bucket together, so its id comes from the database.
  const isFresh = store.kind === 's3' && storeId === undefined && !known.is_used
  if (isFresh && (await store.identify(known.id)) === known.id) return known
  return { fault: faults[known.kind] }
}

/** A new store id. A folder gets its id before the database records it: two folders with the same id could not be told apart. */
const createStoreId = async (store: Identified): Promise<string> => (store.kind === 'disk' ? store.identify(newId()) : newId())

const faults = {
  disk: 'The files of this installation are in another DATA_DIR. Processes on several machines need S3: set S3_BUCKET for all of them',
  s3: 'The files of this installation are in another S3 bucket: S3_ENDPOINT and S3_BUCKET must name that bucket',
} as const
