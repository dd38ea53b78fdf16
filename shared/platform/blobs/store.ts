import type { ByteStore } from '#shared/platform/blobs/byte-store.ts'
import { bigint, boolean, double, text, uuid, uuids } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

/** Inserts the row of a blob before its bytes are written; returns no row if the store is no longer the installation's. */
export const insertBlob = statement(
  'blobs.insertBlob',
  'insert into blobs (workspace_id, id) select $workspaceId, $id from blob_store where id = $storeId returning id',
  { params: { workspaceId: uuid, id: uuid, storeId: uuid }, columns: { id: uuid.notNull } },
)

/** Restarts the time after which the sweep deletes a blob, while its bytes are still being written. */
export const touchBlob = statement(
  'blobs.touchBlob',
  `update blobs set idle_since = clock_timestamp()
   where workspace_id = $workspaceId and id = $id and holders = 0 and not doomed`,
  { params: { workspaceId: uuid, id: uuid } },
)

/** Records the size and digest of a blob whose bytes are written. The first ones stay. */
export const measureBlob = statement(
  'blobs.measureBlob',
  `update blobs set size_bytes = $sizeBytes, sha256 = $sha256
   where workspace_id = $workspaceId and id = $id and sha256 is null`,
  { params: { workspaceId: uuid, id: uuid, sizeBytes: bigint, sha256: text } },
)

/** Marks a blob that no row holds for deletion, whatever its age. No row can hold a doomed blob. */
export const doomBlob = statement(
  'blobs.doomBlob',
  'update blobs set doomed = true where workspace_id = $workspaceId and id = $id and holders = 0 returning id',
  { params: { workspaceId: uuid, id: uuid }, columns: { id: uuid.notNull } },
)

/** Marks blobs of a workspace that is being deleted, those included that another process has marked. */
export const doomBlobsOfWorkspace = statement(
  'blobs.doomBlobsOfWorkspace',
  `update blobs set doomed = true
   where workspace_id = $workspaceId and id = any(array(
     select id from blobs where workspace_id = $workspaceId and holders = 0 order by id limit $limit
   ))
   returning id`,
  { params: { workspaceId: uuid, limit: bigint }, columns: { id: uuid.notNull } },
)

/**
 * Marks blobs of all workspaces for deletion that no row has held for `graceSeconds`, oldest first, and assigns them to this process: if
 * the process stops before it has deleted them, another one finds them after the same time.
 */
export const doomIdleBlobs = statement(
  'blobs.doomIdleBlobs',
  `with idle as (
     select workspace_id, id from blobs
     where idle_since < clock_timestamp() - make_interval(secs => $graceSeconds)
     order by idle_since, id limit $limit for update skip locked
   )
   update blobs as blob set doomed = true, idle_since = clock_timestamp()
   from idle where blob.workspace_id = idle.workspace_id and blob.id = idle.id and blob.holders = 0
   returning blob.workspace_id, blob.id`,
  { params: { graceSeconds: double, limit: bigint }, columns: { workspace_id: uuid.notNull, id: uuid.notNull } },
)

/** Deletes the rows of doomed blobs, once their bytes are deleted. `workspaceIds` has the workspace of each blob in `ids`. */
export const deleteBlobs = statement(
  'blobs.deleteBlobs',
  `delete from blobs as blob using unnest($workspaceIds::uuid[], $ids::uuid[]) as gone (workspace_id, id)
   where blob.workspace_id = gone.workspace_id and blob.id = gone.id and blob.doomed`,
  { params: { workspaceIds: uuids, ids: uuids } },
)

const storeKind = text.as<ByteStore['kind']>()

/** The installation's store, and whether the installation has any blobs. */
export const findStore = statement('blobs.findStore', 'select kind, id, exists (select from blobs) as is_used from blob_store', {
  params: {},
  columns: { kind: storeKind.notNull, id: uuid.notNull, is_used: boolean.notNull },
})

/** Makes a store the installation's, unless the installation has one. */
export const insertStore = statement('blobs.insertStore', 'insert into blob_store (kind, id) values ($kind, $id) on conflict do nothing', {
  params: { kind: storeKind, id: uuid },
})

/** Makes a store of another kind the installation's, as long as the installation has no blobs. */
export const replaceStore = statement(
  'blobs.replaceStore',
  'update blob_store set kind = $kind, id = $id where kind <> $kind and not exists (select from blobs)',
  { params: { kind: storeKind, id: uuid } },
)
