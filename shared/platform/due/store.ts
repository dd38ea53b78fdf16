import { sql } from '#shared/platform/db/statements/statement.ts'

// Due times are compared with the time that a caller passes, not with the database's own clock, so that tests can set it
// (shared/platform/db/clock.ts).

const insert = `insert into due_work (workspace_id, kind, subject, at)
  select $1::uuid, $2, subject, at from unnest($3::text[], $4::timestamptz[]) as due (subject, at)`

/** Sets or moves the due time of each subject. Values: workspace or null, kind, subjects, a time for each subject. */
export const writeDue = sql(
  'write_due_work',
  `${insert} on conflict on constraint due_work_key do update set at = excluded.at, held = false`,
)

/** As `writeDue`, but an earlier time that is set already stays. */
export const writeDueNoLater = sql(
  'write_due_work_by',
  `${insert} on conflict on constraint due_work_key do update set at = least(due_work.at, excluded.at)`,
)

/** As `writeDue`, but any time that is set already stays. */
export const writeDueIfUnset = sql('write_due_work_unless_set', `${insert} on conflict on constraint due_work_key do nothing`)

/** Removes the due times of subjects. Values: workspace, kind, subjects. */
export const deleteDue = sql('delete_due_work', 'delete from due_work where workspace_id = $1 and kind = $2 and subject = any($3)')

const isBlocked = `workspace.id = due.workspace_id and (
  (workspace.status = 'suspended' and due.kind = any($4)) or not coalesce((workspace.apps ->> ($5::jsonb ->> due.kind))::boolean, true)
)`

/**
 * Takes due rows, oldest first, except those that another process is taking. A row that has to wait is marked as held; the trigger of its
 * workspace releases it when the status or an app changes. The workspace is locked for the mark: otherwise a change between check and mark
 * would release nothing, and the row would stay held. Rows of a workspace that is being changed are examined the next time. Values: the
 * time, kinds, the most rows, kinds that wait while suspended, the app of each kind that waits for its app.
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
