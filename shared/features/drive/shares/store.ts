import type { Space, SpaceShare } from '#shared/features/drive/schemas.ts'
import { bigint, boolean, instant, text, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

const mode = text.as<SpaceShare['mode']>()

const columns = {
  id: uuid.notNull,
  prefix: text.notNull,
  /** Null for all members. */
  grantee_id: uuid,
  org_wide: boolean.notNull,
  mode: mode.notNull,
  created_at: instant.notNull,
  grantee_name: text,
}
const list = `share.id, share.prefix, share.grantee_id, share.grantee_id is null as org_wide, share.mode, share.created_at,
  (select name from users where users.id = share.grantee_id) as grantee_name`

/** The shares of a space, ordered by prefix. */
export const findShares = statement(
  'drive.findShares',
  `select ${list} from drive_shares as share
   where workspace_id = $workspaceId and space_id = $spaceId and left_at is null
   order by prefix, created_at, id`,
  { params: { workspaceId: uuid, spaceId: uuid }, columns },
)

/** The number of a space's shares. */
export const countShares = statement(
  'drive.countShares',
  'select count(*) from drive_shares where workspace_id = $workspaceId and space_id = $spaceId',
  { params: { workspaceId: uuid, spaceId: uuid }, columns: { count: bigint.notNull } },
)

/** A share with a member, or with all members (null), at a prefix. */
const shareParams = { workspaceId: uuid, spaceId: uuid, prefix: text, granteeId: uuid.orNull, mode }

/** Changes the mode of a grantee's share at a prefix; returns no row when there is none. */
export const updateShare = statement(
  'drive.updateShare',
  `update drive_shares as share set mode = $mode
   where workspace_id = $workspaceId and space_id = $spaceId and prefix = $prefix and grantee_id is not distinct from $granteeId
   returning ${list}`,
  { params: shareParams, columns },
)

/** Inserts a share. */
export const insertShare = statement(
  'drive.insertShare',
  `insert into drive_shares as share (workspace_id, space_id, prefix, grantee_id, mode, id, created_at)
   values ($workspaceId, $spaceId, $prefix, $granteeId, $mode, $id, $createdAt)
   returning ${list}`,
  { params: { ...shareParams, id: uuid, createdAt: instant }, columns },
)

/** Deletes a share. */
export const deleteShare = statement(
  'drive.deleteShare',
  'delete from drive_shares where workspace_id = $workspaceId and space_id = $spaceId and id = $id returning id',
  { params: { workspaceId: uuid, spaceId: uuid, id: uuid }, columns: { id: uuid.notNull } },
)

/** Deletes the shares of a range (`KeyRange`): of a file, or of a folder and everything below it. */
export const deleteSharesIn = statement(
  'drive.deleteSharesIn',
  `delete from drive_shares
   where workspace_id = $workspaceId and space_id = $spaceId and prefix >= $first and prefix < $end`,
  { params: { workspaceId: uuid, spaceId: uuid, first: text, end: text } },
)

/**
 * Moves the shares of a moved range along: `newFirst` replaces its first key. When the grantee of a share already has one at the new place,
 * only that one stays, with the stronger mode of the two.
 */
export const moveShares = statement(
  'drive.moveShares',
  `with moving as (
     select id, grantee_id, mode, $newFirst || substr(prefix, length($first) + 1) as target from drive_shares
     where workspace_id = $workspaceId and space_id = $spaceId and prefix >= $first and prefix < $end
   ),
   met as (
     select moving.id as moving_id, share.id as share_id, moving.mode
     from moving join drive_shares as share
       on share.workspace_id = $workspaceId and share.space_id = $spaceId and share.prefix = moving.target
         and share.grantee_id is not distinct from moving.grantee_id and share.id not in (select id from moving)
   ),
   strengthened as (
     update drive_shares as share set mode = 'edit' from met
     where share.workspace_id = $workspaceId and share.space_id = $spaceId and share.id = met.share_id and met.mode = 'edit'
   ),
   ended as (
     delete from drive_shares where workspace_id = $workspaceId and space_id = $spaceId and id in (select moving_id from met)
   )
   update drive_shares as share set prefix = moving.target from moving
   where share.workspace_id = $workspaceId and share.space_id = $spaceId and share.id = moving.id
     and moving.id not in (select moving_id from met)`,
  { params: { workspaceId: uuid, spaceId: uuid, first: text, end: text, newFirst: text } },
)

/**
 * A moved folder's share that would also cover files outside the moved range, in a folder that exists at the new place, and that its grantee
 * may not use there already.
 */
export const findWidenedShare = statement(
  'drive.findWidenedShare',
  `select share.id
   from drive_shares as share
   cross join lateral (select $newFirst || substr(share.prefix, length($first) + 1) as prefix) as target
   where share.workspace_id = $workspaceId and share.space_id = $spaceId and share.prefix >= $first and share.prefix < $end
     and right(share.prefix, 1) = '/'
     and exists (
       select from drive_objects as file
       where file.workspace_id = $workspaceId and file.space_id = $spaceId and file.blob_id is not null
         and file.key >= target.prefix and file.key < left(target.prefix, -1) || '0' and not (file.key >= $first and file.key < $end)
     )
     and not exists (
       select from drive_shares as other
       where other.workspace_id = $workspaceId and other.space_id = $spaceId and (other.prefix = '' or right(other.prefix, 1) = '/')
         and starts_with(target.prefix, other.prefix) and not (other.prefix >= $first and other.prefix < $end)
         and (other.grantee_id is null or other.grantee_id = share.grantee_id) and (other.mode = 'edit' or share.mode = 'view')
     )
   limit 1`,
  {
    params: { workspaceId: uuid, spaceId: uuid, first: text, end: text, newFirst: text },
    columns: { id: uuid.notNull },
  },
)

/** The shares that a person may use, by place, except those in its own drives and in drives of members who have left. */
export const findSharedWith = statement(
  'drive.findSharedWith',
  `select share.space_id as bucket_id, share.prefix, bool_or(share.mode = 'edit') as edits, space.key, space.type,
     coalesce((select name from users where users.id = space.owner_id), space.name) as owner_name
   from drive_shares as share
   join drive_spaces as space on space.workspace_id = share.workspace_id and space.id = share.space_id
   where share.workspace_id = $workspaceId and (share.grantee_id = $personId or share.grantee_id is null)
     and space.left_at is null and space.owner_id is distinct from $personId
   group by share.space_id, share.prefix, space.key, space.type, space.owner_id, space.name
   order by owner_name, share.prefix, share.space_id`,
  {
    params: { workspaceId: uuid, personId: uuid },
    columns: {
      bucket_id: uuid.notNull,
      prefix: text.notNull,
      edits: boolean.notNull,
      key: text.notNull,
      type: text.as<Space['type']>().notNull,
      owner_name: text.notNull,
    },
  },
)

/** The id of a member with an address or id. */
export const findShareGrantee = statement(
  'drive.findShareGrantee',
  `select member.user_id as id from members as member join users as person on person.id = member.user_id
   where member.workspace_id = $workspaceId and (lower(person.email) = lower($email) or member.user_id = $userId)
   order by member.user_id limit 1`,
  { params: { workspaceId: uuid, email: text.orNull, userId: uuid.orNull }, columns: { id: uuid.notNull } },
)
