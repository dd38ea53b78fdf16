import type { Executor } from '#shared/platform/db/database.ts'
import { declareConflicts } from '#shared/platform/db/database-errors.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'

declareConflicts({
  drive_spaces_key: ['KEY_TAKEN', 'key is the key of another space'],
  drive_objects_space: ['VALIDATION_ERROR', 'bucket is not empty'],
})

const counted = `coalesce((select sum(files) from drive_totals as total where total.workspace_id = space.workspace_id and total.space_id = space.id), 0)::bigint as object_count,
  coalesce((select sum(bytes) from drive_totals as total where total.workspace_id = space.workspace_id and total.space_id = space.id), 0)::bigint as total_bytes`

const columns = `space.id, space.key, space.name, space.type, space.owner_id, space.is_main, space.created_at`

/**
 * A person's drives, the main one first, then the team's spaces, the shared one first; otherwise in the order of creation. Values:
 * workspace, person or null.
 */
export const findSpaces = sql(
  'find_drive_spaces',
  `select ${columns}, ${counted} from drive_spaces as space
   where workspace_id = $1 and (type <> 'user' or owner_id = $2) and left_at is null
   order by type <> 'user', not is_main, type <> 'org', created_at, id`,
)

/** Stores a space. Values: workspace, id, key, name, type, owner or null, whether it is the owner's main drive, time. */
export const insertSpace = sql(
  'insert_drive_space',
  `insert into drive_spaces as space (workspace_id, id, key, name, type, owner_id, is_main, created_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8)
   returning id, key, name, type, 0 as object_count, 0 as total_bytes, created_at`,
)

/** As `insertSpace`, unless the key is taken. */
export const insertSpaceOnce = sql(
  'insert_drive_space_once',
  `insert into drive_spaces (workspace_id, id, key, name, type, owner_id, is_main, created_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict on constraint drive_spaces_key do nothing`,
)

const countCustom = sql('count_custom_spaces', `select count(*) from drive_spaces where workspace_id = $1 and type = 'custom'`)
/** The number of custom spaces, which a team creates besides the shared one. */
export async function countCustomSpaces(db: Executor, workspaceId: string): Promise<number> {
  return (await db.query<{ count: number }>(countCustom(workspaceId)))[0]?.count ?? 0
}

/** Deletes the rows of all folders of a space, so that only files prevent its deletion. Values: workspace, space. */
export const deleteEmptyFolders = sql(
  'delete_made_folders',
  'delete from drive_objects where workspace_id = $1 and space_id = $2 and blob_id is null',
)

/** Deletes a space; violates a constraint while the space has objects. Values: workspace, id. */
export const deleteSpace = sql('delete_drive_space', 'delete from drive_spaces where workspace_id = $1 and id = $2 returning id')

/**
 * Locks the row of a space until the transaction ends: others cannot move, delete or share in the space, but uploads go on. Values:
 * workspace, id.
 */
export const lockSpace = sql('lock_drive_space', 'select id from drive_spaces where workspace_id = $1 and id = $2 for no key update')

/**
 * A space by id or key, with the modes of the shares that a person may use: at the given prefixes (`modes`), and at any (`modes_anywhere`).
 * Values: workspace, id or null, key or null, person or null, prefixes.
 */
export const findSpace = sql(
  'find_drive_space',
  `select ${columns},
     coalesce((
       select array_agg(distinct share.mode) from drive_shares as share
       where share.workspace_id = space.workspace_id and share.space_id = space.id and share.prefix = any($5)
         and (share.grantee_id = $4 or share.grantee_id is null)
     ), '{}') as modes,
     coalesce((
       select array_agg(distinct share.mode) from drive_shares as share
       where share.workspace_id = space.workspace_id and share.space_id = space.id and (share.grantee_id = $4 or share.grantee_id is null)
     ), '{}') as modes_anywhere
   from drive_spaces as space
   where workspace_id = $1 and (id = $2 or key = $3) and left_at is null`,
)
