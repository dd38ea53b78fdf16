import type { Pool } from 'pg'
import { type Db, queryWithoutTriggers } from '#test/support/rows.ts'

/** Inserts copies of a file as `${prefix}k1`, `${prefix}k2` and so on, past the API, and counts their bytes. */
export async function addCopies(db: Db, workspaceId: string, prefix: string, count: number, bytes: number): Promise<void> {
  await db.query(
    `insert into drive_objects (workspace_id, space_id, key, blob_id, size_bytes, content_type, sha256, created_at, updated_at)
     select workspace_id, space_id, $2::text || 'k' || number, blob_id, size_bytes, content_type, sha256, created_at, updated_at
     from drive_objects cross join generate_series(1, $3::integer) as number where workspace_id = $1 and key = $2::text || 'seed'`,
    [workspaceId, prefix, count],
  )
  await db.query('update file_usage set total_bytes = total_bytes + $2 where workspace_id = $1', [workspaceId, bytes])
}

/** Inserts files of these keys past the API and the triggers that count them, with the bytes of the file `like`. */
export async function addKeys(db: Pool, workspaceId: string, like: string, keys: readonly string[]): Promise<void> {
  await queryWithoutTriggers(
    db,
    `insert into drive_objects (workspace_id, space_id, key, blob_id, size_bytes, content_type, sha256, created_at, updated_at)
     select workspace_id, space_id, added, blob_id, size_bytes, content_type, sha256, created_at, updated_at
     from drive_objects cross join unnest($3::text[]) as added where workspace_id = $1 and key = $2`,
    [workspaceId, like, keys],
  )
}

/** Sets the departure of a member so long back, in the drive that it owned. */
export async function ageLeftSpaces(db: Db, ownerId: string, age: string): Promise<void> {
  await db.query('update drive_spaces set left_at = now() - $2::interval where owner_id = $1', [ownerId, age])
}

/** Sets the departure of a member so long back, in the shares that it had. */
export async function ageLeftShares(db: Db, granteeId: string, age: string): Promise<void> {
  await db.query('update drive_shares set left_at = now() - $2::interval where grantee_id = $1', [granteeId, age])
}

/** The number of stored byte sequences that no file refers to, of one workspace or of all. */
export async function countLooseBlobs(db: Db, workspaceId?: string): Promise<number> {
  const { rowCount } = await db.query('select from blobs where holders = 0 and workspace_id = coalesce($1, workspace_id)', [
    workspaceId ?? null,
  ])
  return rowCount ?? 0
}

/** The ids of a workspace's stored byte sequences that files refer to, in order, and the number of these files. */
export async function listHeldBlobs(db: Db, workspaceId: string): Promise<{ id: string; holders: number }[]> {
  const { rows } = await db.query<{ id: string; holders: number }>(
    'select id, holders::integer from blobs where workspace_id = $1 and holders > 0 order by id',
    [workspaceId],
  )
  return rows
}

/** The files and bytes that are counted for all spaces of a workspace. */
export async function readDriveTotals(db: Db, workspaceId: string): Promise<{ files: number; bytes: number } | undefined> {
  const { rows } = await db.query<{ files: number; bytes: number }>(
    'select sum(files)::integer as files, sum(bytes)::integer as bytes from drive_totals where workspace_id = $1',
    [workspaceId],
  )
  return rows[0]
}

/** Replaces all files of a workspace by folders of these keys in one space. */
export async function replaceByFolders(db: Db, workspaceId: string, spaceId: string, keys: readonly string[]): Promise<void> {
  await db.query('delete from drive_objects where workspace_id = $1', [workspaceId])
  await db.query(
    `insert into drive_objects (workspace_id, space_id, key, blob_id, created_at, updated_at)
     select $1, $2, key, null, now(), now() from unnest($3::text[]) as key`,
    [workspaceId, spaceId, keys],
  )
}

/** Makes the database one that the migration of keys to NFC has not reached. */
export const forgetKeyForm = (db: Db) => db.query(`delete from migrations where name = '0018-key-form.ts'`)
