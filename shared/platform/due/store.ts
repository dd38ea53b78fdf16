import { sql } from '#shared/platform/db/statements/statement.ts'

// Times are compared with the clock that a caller gives (shared/platform/db/clock.ts), so that a test can own it.

const insert = `insert into due_work (workspace_id, kind, subject, at)
  select $1::uuid, $2, subject, at from unnest($3::text[], $4::timestamptz[]) as due (subject, at)`

/** Sets when subjects of a kind fall due, whenever that was before. Values: workspace or null, kind, subjects, as many times. */
export const writeDue = sql(
  'write_due_work',
  `${insert} on conflict on constraint due_work_key do update set at = excluded.at, held = false`,
)

/** The same, where an earlier time stays. */
export const writeDueNoLater = sql(
  'write_due_work_by',
  `${insert} on conflict on constraint due_work_key do update set at = least(due_work.at, excluded.at)`,
)

/** The same, where any time stays. */
export const writeDueIfUnset = sql('write_due_work_unless_set', `${insert} on conflict on constraint due_work_key do nothing`)

/** Lets subjects fall due no more. Values: workspace, kind, subjects. */
export const deleteDue = sql('delete_due_work', 'delete from due_work where workspace_id = $1 and kind = $2 and subject = any($3)')

const isBlocked = `workspace.id = due.workspace_id and (
  (workspace.status = 'suspended' and due.kind = any($4)) or not coalesce((workspace.apps ->> ($5::jsonb ->> due.kind))::boolean, true)
)`

/**
 * Takes what is due, oldest first, past what another process is taking. What has to wait is marked as held until its workspace changes;
 * under a lock that keeps the workspace as it is, since the change would otherwise release what is not held yet. A workspace that is being
 * changed is looked at the next time. Values: the time, kinds, how many at most, kinds that wait while suspended, the app of each kind.
 */
export const takeDueRows = sql(
  'take_due_work',
  `with due as (
     select id, workspace_id, kind, subject, at from due_work
     where not held and at <= $1 and kind = any($2) order by at, id limit $3 for update skip locked
   ),
   blocked as (select due.id from due join workspaces as workspace on ${isBlocked}),
   settled as (select due.id from due join workspaces as workspace on ${isBlocked} for share of workspace skip locked),
   waiting as (update due_work set held = true where id in (select id from settled)),
   gone as (
     delete from due_work where id in (select id from due except select id from blocked)
     returning id, workspace_id as "workspaceId", kind, subject, at
   )
   select gone.*, (select count(*)::integer from due) as met from gone
   union all select null, null, null, null, null, (select count(*)::integer from due) where not exists (select from gone)
   order by 5, 1`,
)
