import type { Db } from '#test/support/rows.ts'

/** Creates the table whose rows hold blobs, as those of domains do. */
export async function createHolders(db: Db): Promise<void> {
  await db.query(`
    create table if not exists held (workspace_id uuid, name text primary key, blob_id uuid);
    create or replace trigger held_blob after insert or delete or update of blob_id on held for each row execute function hold_blob()`)
}

/** Deletes every row that holds a blob. */
export async function deleteHolders(db: Db): Promise<void> {
  await db.query('delete from held')
}

/** Marks every blob as one that the sweep deletes. */
export async function doomBlobs(db: Db): Promise<void> {
  await db.query('update blobs set doomed = true')
}

/** Adds a row that holds a blob. */
export async function holdBlob(db: Db, workspaceId: string, name: string, blobId: string): Promise<void> {
  await db.query('insert into held values ($1, $2, $3)', [workspaceId, name, blobId])
}

/** All blobs, with the number of rows that hold each. */
export async function readBlobs(db: Db): Promise<{ id: string; holders: number; doomed: boolean }[]> {
  return (await db.query<{ id: string; holders: number; doomed: boolean }>('select id, holders, doomed from blobs order by id')).rows
}

/** Makes a row hold another blob. */
export async function replaceBlob(db: Db, name: string, blobId: string): Promise<void> {
  await db.query('update held set blob_id = $2 where name = $1', [name, blobId])
}
