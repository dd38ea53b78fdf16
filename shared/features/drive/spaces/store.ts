import type { Space } from '#shared/features/drive/schemas.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { declareConflicts } from '#shared/platform/db/database-errors.ts'
import { bigint, boolean, instant, integer, type RowOf, selectList, text, texts, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

declareConflicts({
  drive_spaces_key: ['KEY_TAKEN', 'key is the key of another space'],
  drive_objects_space: ['VALIDATION_ERROR', 'bucket is not empty'],
})

const spaceType = text.as<Space['type']>()

const columns = {
  id: uuid.notNull,
  key: text.notNull,
  name: text.notNull,
  type: spaceType.notNull,
  /** Null for the team's spaces. */
  owner_id: uuid,
  is_main: boolean.notNull,
  created_at: instant.notNull,
}
const list = selectList(columns, 'space')

/** A space as it is stored. */
export type SpaceRow = RowOf<typeof columns>

const total = (column: string) => `coalesce((
     select sum(${column}) from drive_totals as total where total.workspace_id = space.workspace_id and total.space_id = space.id
   ), 0)::bigint`

const columnsWithTotals = { ...columns, object_count: bigint.notNull, total_bytes: bigint.notNull }

/** A space with the number of its files and their bytes. */
export type SpaceWithTotals = RowOf<typeof columnsWithTotals>

/** A person's drives, the main one first, then the team's spaces, the shared one first; otherwise in the order of creation. */
export const findSpaces = statement(
  'drive.findSpaces',
  `select ${list}, ${total('files')} as object_count, ${total('bytes')} as total_bytes
   from drive_spaces as space
   where workspace_id = $workspaceId and (type <> 'user' or owner_id = $personId) and left_at is null
   order by type <> 'user', not is_main, type <> 'org', created_at, id`,
  { params: { workspaceId: uuid, personId: uuid.orNull }, columns: columnsWithTotals },
)

/** `isMain` marks the owner's main drive. */
const newSpaceParams = {
  workspaceId: uuid,
  id: uuid,
  key: text,
  name: text,
  type: spaceType,
  ownerId: uuid.orNull,
  isMain: boolean,
  createdAt: instant,
}

/** Inserts a space. */
export const insertSpace = statement(
  'drive.insertSpace',
  `insert into drive_spaces as space (workspace_id, id, key, name, type, owner_id, is_main, created_at)
   values ($workspaceId, $id, $key, $name, $type, $ownerId, $isMain, $createdAt)
   returning id, key, name, type, 0 as object_count, 0 as total_bytes, created_at`,
  {
    params: newSpaceParams,
    columns: {
      id: uuid.notNull,
      key: text.notNull,
      name: text.notNull,
      type: spaceType.notNull,
      object_count: integer.notNull,
      total_bytes: integer.notNull,
      created_at: instant.notNull,
    },
  },
)

/** Inserts a space unless the key is taken. */
export const insertSpaceOnce = statement(
  'drive.insertSpaceOnce',
  `insert into drive_spaces (workspace_id, id, key, name, type, owner_id, is_main, created_at)
   values ($workspaceId, $id, $key, $name, $type, $ownerId, $isMain, $createdAt)
   on conflict on constraint drive_spaces_key do nothing`,
  { params: newSpaceParams },
)

const countCustomRows = statement(
  'drive.countCustomRows',
  `select count(*) from drive_spaces where workspace_id = $workspaceId and type = 'custom'`,
  { params: { workspaceId: uuid }, columns: { count: bigint.notNull } },
)
/** The number of custom spaces, which a team creates besides the shared one. */
export async function countCustomSpaces(db: Executor, workspaceId: string): Promise<number> {
  return (await db.query(countCustomRows({ workspaceId })))[0]?.count ?? 0
}

/** Deletes the rows of all folders of a space, so that only files prevent its deletion. */
export const deleteEmptyFolders = statement(
  'drive.deleteEmptyFolders',
  'delete from drive_objects where workspace_id = $workspaceId and space_id = $spaceId and blob_id is null',
  { params: { workspaceId: uuid, spaceId: uuid } },
)

/** Deletes a space; violates a constraint while the space has objects. */
export const deleteSpace = statement(
  'drive.deleteSpace',
  'delete from drive_spaces where workspace_id = $workspaceId and id = $id returning id',
  { params: { workspaceId: uuid, id: uuid }, columns: { id: uuid.notNull } },
)

/** Locks the row of a space until the transaction ends: others cannot move, delete or share in the space, but uploads go on. */
export const lockSpace = statement(
  'drive.lockSpace',
  'select id from drive_spaces where workspace_id = $workspaceId and id = $id for no key update',
  { params: { workspaceId: uuid, id: uuid }, columns: { id: uuid.notNull } },
)

const columnsWithModes = { ...columns, modes: texts.notNull, modes_anywhere: texts.notNull }

/** A space, and the modes of the shares that a person may use: at given prefixes (`modes`), and at any prefix (`modes_anywhere`). */
export type SpaceWithModes = RowOf<typeof columnsWithModes>

/** A space by id or key, with the modes of a person's shares; without a person only those with all members. */
export const findSpace = statement(
  'drive.findSpace',
  `select ${list},
     coalesce((
       select array_agg(distinct share.mode) from drive_shares as share
       where share.workspace_id = space.workspace_id and share.space_id = space.id and share.prefix = any($prefixes)
         and (share.grantee_id = $personId or share.grantee_id is null)
     ), '{}') as modes,
     coalesce((
       select array_agg(distinct share.mode) from drive_shares as share
       where share.workspace_id = space.workspace_id and share.space_id = space.id
         and (share.grantee_id = $personId or share.grantee_id is null)
     ), '{}') as modes_anywhere
   from drive_spaces as space
   where workspace_id = $workspaceId and (id = $id or key = $key) and left_at is null`,
  {
    params: { workspaceId: uuid, id: uuid.orNull, key: text.orNull, personId: uuid.orNull, prefixes: texts },
    columns: columnsWithModes,
  },
)
