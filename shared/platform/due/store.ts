import { bigint, instant, instants, integer, jsonb, text, texts, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

// Due times are compared with the time that a caller passes, not with the database's own clock, so that tests can set it
// (shared/platform/db/clock.ts).

const insertDue = `insert into due_work (workspace_id, kind, subject, at)
  select $workspaceId::uuid, $kind, subject, at from unnest($subjects::text[], $times::timestamptz[]) as due (subject, at)`

/** The subjects and the due time of each; without a workspace for the platform's own work. */
const dueParams = { workspaceId: uuid.orNull, kind: text, subjects: texts, times: instants }

/** Sets or moves the due time of each subject. */
export const writeDue = statement(
  'due.writeDue',
  `${insertDue} on conflict on constraint due_work_key do update set at = excluded.at, held = false`,
  { params: dueParams },
)

/** As `writeDue`, but an earlier time that is set already stays. */
export const writeDueNoLater = statement(
  'due.writeDueNoLater',
  `${insertDue} on conflict on constraint due_work_key do update set at = least(due_work.at, excluded.at)`,
  { params: dueParams },
)

/** As `writeDue`, but any time that is set already stays. */
export const writeDueIfUnset = statement('due.writeDueIfUnset', `${insertDue} on conflict on constraint due_work_key do nothing`, {
  params: dueParams,
})

/** Removes the due times of subjects. */
export const deleteDue = statement(
  'due.deleteDue',
  'delete from due_work where workspace_id = $workspaceId and kind = $kind and subject = any($subjects)',
  { params: { workspaceId: uuid, kind: text, subjects: texts } },
)

const isBlocked = `workspace.id = due.workspace_id and (
  (workspace.status = 'suspended' and due.kind = any($suspendedKinds))
  or not coalesce((workspace.apps ->> ($appOfKind::jsonb ->> due.kind))::boolean, true)
)`

/**
 * Takes due rows, oldest first, except those that another process is taking. A row that has to wait is marked as held; the trigger of its
 * workspace releases it when the status or an app changes. The workspace is locked for the mark: otherwise a change between check and mark
 * would release nothing, and the row would stay held. Rows of a workspace that is being changed are examined the next time. Kinds in
 * `suspendedKinds` wait while the workspace is suspended; `appOfKind` is the app, as a JSON object by kind, of each kind that waits for its
 * app. `met` is the number of rows examined; if none of them was taken, the only row has nulls and `met`.
 */
export const takeDueRows = statement(
  'due.takeDueRows',
  `with due as (
     select id, workspace_id, kind, subject, at from due_work
     where not held and at <= $now and kind = any($kinds) order by at, id limit $limit for update skip locked
   ),
   blocked as (select due.id from due join workspaces as workspace on ${isBlocked}),
   locked as (select due.id from due join workspaces as workspace on ${isBlocked} for share of workspace skip locked),
   waiting as (update due_work set held = true where id in (select id from locked)),
   gone as (
     delete from due_work where id in (select id from due except select id from blocked)
     returning id, workspace_id as "workspaceId", kind, subject, at
   )
   select gone.*, (select count(*)::integer from due) as met from gone
   union all select null, null, null, null, null, (select count(*)::integer from due) where not exists (select from gone)
   order by 5, 1`,
  {
    params: { now: instant, kinds: texts, limit: bigint, suspendedKinds: texts, appOfKind: jsonb },
    columns: { id: uuid, workspaceId: uuid, kind: text, subject: text, at: instant, met: integer.notNull },
  },
)

/** Keeps how the last run of a maintenance task ended. */
export const recordMaintenanceRun = statement(
  'due.recordMaintenanceRun',
  `insert into maintenance_runs (task, began_at, ms, error) values ($task, $beganAt, $ms, $error)
   on conflict (task) do update set began_at = excluded.began_at, ms = excluded.ms, error = excluded.error`,
  { params: { task: text, beganAt: instant, ms: integer, error: text.orNull } },
)
