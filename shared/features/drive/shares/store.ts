import { sql } from '#shared/platform/db/statements/statement.ts'

const columns = `share.id, share.prefix, share.grantee_id, share.grantee_id is null as org_wide, share.mode, share.created_at,
  (select name from users where users.id = share.grantee_id) as grantee_name`

/** The shares of a space, ordered by prefix. Values: workspace, space. */
export const findShares = sql(
  'find_drive_shares',
  `select ${columns} from drive_shares as share where workspace_id = $1 and space_id = $2 and left_at is null order by prefix, created_at, id`,
)

/** The number of a space's shares. Values: workspace, space. */
export const countShares = sql('count_drive_shares', 'select count(*) from drive_shares where workspace_id = $1 and space_id = $2')

/**
 * Changes the mode of a grantee's share at a prefix; returns no row when there is none. Values: workspace, space, prefix, person or null
 * for all members, mode.
 */
export const updateShare = sql(
  'update_drive_share',
  `update drive_shares as share set mode = $5
   where workspace_id = $1 and space_id = $2 and prefix = $3 and grantee_id is not distinct from $4 returning ${columns}`,
)

/** Stores a share. Values: workspace, space, prefix, person or null for all members, mode, id, time. */
export const insertShare = sql(
  'insert_drive_share',
  `insert into drive_shares as share (workspace_id, space_id, prefix, grantee_id, mode, id, created_at)
   values ($1, $2, $3, $4, $5, $6, $7) returning ${columns}`,
)

/** Deletes a share. Values: workspace, space, id. */
export const deleteShare = sql(
  'delete_drive_share',
  'delete from drive_shares where workspace_id = $1 and space_id = $2 and id = $3 returning id',
)

/** Deletes the shares of a range: of a file, or of a folder and everything below it. Values: workspace, space, first key, exclusive end. */
export const deleteSharesIn = sql(
  'delete_drive_shares_in',
  `delete from drive_shares
   where workspace_id = $1 and space_id = $2 and prefix >= $3 and prefix < $4`,
)

/**
 * Moves the shares of a moved range along. When the grantee of a share already has one at the new place, only that one stays, with the
 * stronger mode of the two. Values: workspace, space, first key, exclusive end, new first key.
 */
export const moveShares = sql(
  'move_drive_shares',
  `with moving as (
     select id, grantee_id, mode, $5 || substr(prefix, length($3) + 1) as target from drive_shares
     where workspace_id = $1 and space_id = $2 and prefix >= $3 and prefix < $4
   ),
   met as (
     select moving.id as moving_id, share.id as share_id, moving.mode
     from moving join drive_shares as share
       on share.workspace_id = $1 and share.space_id = $2 and share.prefix = moving.target
         and share.grantee_id is not distinct from moving.grantee_id and share.id not in (select id from moving)
   ),
   strengthened as (
     update drive_shares as share set mode = 'edit' from met
     where share.workspace_id = $1 and share.space_id = $2 and share.id = met.share_id and met.mode = 'edit'
   ),
   ended as (delete from drive_shares where workspace_id = $1 and space_id = $2 and id in (select moving_id from met))
   update drive_shares as share set prefix = moving.target from moving
   where share.workspace_id = $1 and share.space_id = $2 and share.id = moving.id and moving.id not in (select moving_id from met)`,
)

/**
 * The shares that a person may use, by place, except those in its own drives and in drives of members who have left. Values: workspace,
 * person.
 */
export const findSharedWith = sql(
  'find_drive_shares_with',
  `select share.space_id as bucket_id, share.prefix, bool_or(share.mode = 'edit') as edits, space.key, space.type,
     coalesce((select name from users where users.id = space.owner_id), space.name) as owner_name
   from drive_shares as share
   join drive_spaces as space on space.workspace_id = share.workspace_id and space.id = share.space_id
   where share.workspace_id = $1 and (share.grantee_id = $2 or share.grantee_id is null)
     and space.left_at is null and space.owner_id is distinct from $2
   group by share.space_id, share.prefix, space.key, space.type, space.owner_id, space.name
   order by owner_name, share.prefix, share.space_id`,
)

/** The id of a member with an address or id. Values: workspace, address or null, id or null. */
export const findShareGrantee = sql(
  'find_share_grantee',
  `select member.user_id as id from members as member join users as person on person.id = member.user_id
   where member.workspace_id = $1 and (lower(person.email) = lower($2) or member.user_id = $3) order by member.user_id limit 1`,
)
