import type { ByteStore } from '#shared/blobs/byte-store.ts'
import { findStore, insertStore, replaceStore } from '#shared/blobs/statements.ts'
import type { Executor } from '#shared/db/database.ts'
import { newId } from '#shared/kernel/ids.ts'

interface KnownStore {
  readonly kind: ByteStore['kind']
  readonly id: string
  readonly is_used: boolean
}

/** The id of a store that is the installation's, or what is wrong, in words for the operator. */
export type Place = { readonly id: string } | { readonly fault: string }

/**
 * Tells whether a store is the one that the installation's files lie in. The first store that is used becomes it; one of the other kind
 * takes its place while nothing lies in the first. Throws when the store or the database is out of reach.
 */
export async function findPlace(db: Executor, store: ByteStore): Promise<Place> {
  const known = (await db.query<KnownStore>(findStore()))[0]
  const held = await store.identity()
  if (!known) {
    await db.query(insertStore(store.kind, held ?? (await nameFor(store))))
    return findPlace(db, store)
  }
  if (held === known.id) return known
  if (known.kind !== store.kind) {
    if (known.is_used) return { fault: mistakes[known.kind] }
    await db.query(replaceStore(store.kind, held ?? (await nameFor(store))))
    return findPlace(db, store)
  }
  // Several processes may begin with a new bucket together, so there the name comes from the database.
  const isFresh = store.kind === 's3' && held === undefined && !known.is_used
  if (isFresh && (await store.identify(known.id)) === known.id) return known
  return { fault: mistakes[known.kind] }
}

/** A new name. A folder gets it before the database knows it, since the same name in two folders would hide that they are two. */
const nameFor = async (store: ByteStore): Promise<string> => (store.kind === 'disk' ? store.identify(newId()) : newId())

const mistakes = {
  disk: 'The files of this installation lie in DATA_DIR of another place. Processes on several machines need S3: set S3_BUCKET for all of them',
  s3: 'The files of this installation lie in another S3 bucket: S3_ENDPOINT and S3_BUCKET must name that one',
} as const
