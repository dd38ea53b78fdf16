import { sql } from '#shared/platform/db/statements/statement.ts'

/**
 * Inserts the row of a blob before its bytes are written; inserts none if the store is no longer the installation's. Values: workspace, id,
 * the store's id.
 */
export const insertBlob = sql(
  'insert_blob',
  'insert into blobs (workspace_id, id) select $1, $2 from blob_store where id = $3 returning id',
)

/** Restarts the time after which the sweep deletes a blob, while its bytes are still being written. Values: workspace, id. */
export const touchBlob = sql(
  'touch_blob',
  'update blobs set idle_since = clock_timestamp() where workspace_id = $1 and id = $2 and holders = 0 and not doomed',
)

/** Marks a blob that no row holds for deletion, whatever its age; no row can hold a doomed blob any more. Values: workspace, id. */
export const doomBlob = sql('doom_blob', 'update blobs set doomed = true where workspace_id = $1 and id = $2 and holders = 0 returning id')

/**
 * Marks blobs of all workspaces for deletion that no row has held for a time, oldest first, and assigns them to this process: should the
 * process stop before it has deleted them, another one finds them after the same time. Values: the time in seconds, the most blobs.
 */
export const doomIdleBlobs = sql(
  'doom_idle_blobs',
  `with idle as (
     select workspace_id, id from blobs
     where idle_since < clock_timestamp() - make_interval(secs => $1)
     order by idle_since, id limit $2 for update skip locked
   )
   update blobs as blob set doomed = true, idle_since = clock_timestamp()
   from idle where blob.workspace_id = idle.workspace_id and blob.id = idle.id and blob.holders = 0
   returning blob.workspace_id, blob.id`,
)

/** Deletes the rows of doomed blobs, once their bytes are deleted. Values: workspaces, ids. */
export const deleteBlobs = sql(
  'delete_blobs',
  `delete from blobs as blob using unnest($1::uuid[], $2::uuid[]) as gone (workspace_id, id)
   where blob.workspace_id = gone.workspace_id and blob.id = gone.id and blob.doomed`,
)

/** The installation's store, and whether the installation has any blobs. */
export const findStore = sql('find_blob_store', 'select kind, id, exists (select from blobs) as is_used from blob_store')

/** Makes a store the installation's, unless the installation has one. Values: kind, id. */
export const insertStore = sql('insert_blob_store', 'insert into blob_store (kind, id) values ($1, $2) on conflict do nothing')

/** Makes a store of another kind the installation's, as long as the installation has no blobs. Values: kind, id. */
export const replaceStore = sql(
  'replace_blob_store',
  'update blob_store set kind = $1, id = $2 where kind <> $1 and not exists (select from blobs)',
)
