import { boolean, integer, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

/** Locks a person against other transactions that create workspaces for it, or change how its workspaces count. */
export const lockOwner = statement('workspaces.lockOwner', 'select id from users where id = $id for no key update', {
  params: { id: uuid },
  columns: { id: uuid.notNull },
})

/** How many workspaces a person owns, how many were made within the last hour, and when the next one may be made. */
export const countOwned = statement(
  'workspaces.countOwned',
  `select count(*)::integer as owned, (count(*) filter (where created_at > now() - interval '1 hour'))::integer as recent,
     coalesce(ceil(extract(epoch from (
       select created_at from workspaces where owner_id = $ownerId order by created_at desc, id offset $perHour::integer - 1 limit 1
     ) + interval '1 hour' - now())), 0)::integer as "waitSeconds"
   from workspaces where owner_id = $ownerId`,
  {
    params: { ownerId: uuid, perHour: integer },
    columns: {
      owned: integer.notNull,
      recent: integer.notNull,
      /** Seconds until fewer than `perHour` workspaces are younger than an hour; 0 or less when that is so now. */
      waitSeconds: integer.notNull,
    },
  },
)

/** Sets whether the workspaces of a person count one by one. New ones follow by a trigger. */
export const updateSharesApart = statement('workspaces.updateSharesApart', 'update users set shares_apart = $apart where id = $ownerId', {
  params: { ownerId: uuid, apart: boolean },
})

/** Gives every workspace of a person its share. */
export const updateShares = statement(
  'workspaces.updateShares',
  `update workspaces set share_id = case when $apart::boolean then id else owner_id end where owner_id = $ownerId returning id`,
  { params: { ownerId: uuid, apart: boolean }, columns: { id: uuid.notNull } },
)
