import { declareConflicts } from '#shared/platform/db/database-errors.ts'
import { creationPageSql } from '#shared/platform/db/lists.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'

declareConflicts({ notification_rules_type: ['VALIDATION_ERROR', 'object_type must be the key of a record type'] })

const ruleColumns = 'id, name, object_type, event, title, audience, enabled, created_at, updated_at'

/** Rules of a workspace, oldest first. Values: workspace, position, how many. */
export const findRules = creationPageSql('list_rules', `select ${ruleColumns} from notification_rules where workspace_id = $1`, 1)

/** One rule. Values: workspace, id. */
export const findRule = sql('find_rule', `select ${ruleColumns} from notification_rules where workspace_id = $1 and id = $2`)

/** Makes a rule. Values: workspace, id, name, type key, event, title, audience. */
export const insertRule = sql(
  'insert_rule',
  `insert into notification_rules (workspace_id, id, name, object_type, event, title, audience) values ($1, $2, $3, $4, $5, $6, $7)
   returning ${ruleColumns}`,
)

/** Changes a rule; a null leaves its column as it is. Values: workspace, id, name, type key, event, title, audience, enabled. */
export const updateRule = sql(
  'update_rule',
  `update notification_rules
   set name = coalesce($3, name), object_type = coalesce($4, object_type), event = coalesce($5, event), title = coalesce($6, title),
     audience = coalesce($7, audience), enabled = coalesce($8, enabled), updated_at = now()
   where workspace_id = $1 and id = $2
   returning ${ruleColumns}`,
)

/** Deletes a rule. Values: workspace, id. */
export const deleteRule = sql('delete_rule', 'delete from notification_rules where workspace_id = $1 and id = $2 returning id')

/** The titles of all rules. Values: workspace. */
export const findTitles = sql('find_rule_titles', 'select id, title from notification_rules where workspace_id = $1 order by id')

/**
 * Writes an item of each notice for these people as far as they are members, and for the next members where all are meant; each once, by the
 * notice's key or by its event and listener. Whoever joined after the event gets none. Counts those whom it was for and gives the last of
 * them. Values: workspace, people, the member after whom to go on or null for none, how many; and as many titles, type keys, records, events
 * in words, keys, ids of events and listeners.
 */
export const insertNotifications = sql(
  'put_notifications',
  `with audience as (
     select user_id, created_at from members where workspace_id = $1 and user_id = any($2::uuid[])
     union all (
       select user_id, created_at from members
       where $3::uuid is not null and workspace_id = $1 and user_id > $3 order by user_id limit $4
     )
   ),
   notice as materialized (
     select title, object_type, record_id, event, key, coalesce(event_id, uuidv7()) as id, listener_id,
       uuid_extract_timestamp(event_id) as happened_at
     from unnest($5::text[], $6::text[], $7::uuid[], $8::text[], $9::text[], $10::uuid[], $11::uuid[])
       as given (title, object_type, record_id, event, key, event_id, listener_id)
   ),
   put as (
     insert into notifications (workspace_id, user_id, id, title, object_type, record_id, event, key)
     select $1, member.user_id, notification_id(notice.id, coalesce(notice.listener_id, notice.id), member.user_id), notice.title,
       notice.object_type, notice.record_id, notice.event, notice.key
     from notice
     join audience as member on notice.happened_at is null or date_trunc('milliseconds', member.created_at) <= notice.happened_at
     on conflict do nothing
   )
   select count(*)::integer as count, (select user_id from audience order by user_id desc limit 1) as last from audience`,
)

/**
 * Who a notice is for: a member, the holders of a role, or with neither all members; and whether the two were found. Values: workspace,
 * person or null, role or null.
 */
export const findRecipients = sql(
  'find_notice_recipients',
  `select
     coalesce(array_agg(member.user_id order by member.user_id) filter (where
       ($2::uuid is null and $3::uuid is null) or member.user_id = $2 or exists (
         select from role_members as held where held.workspace_id = $1 and held.role_id = $3 and held.principal_id = member.user_id
       )
     ), '{}') as user_ids,
     coalesce(bool_or(member.user_id = $2), false) as is_member,
     exists (select from roles where workspace_id = $1 and id = $3 and not is_anonymous) as is_role
   from members as member
   where member.workspace_id = $1`,
)

const itemColumns = 'id, title, object_type, record_id, event, read_at, created_at'

/** A page of an inbox, newest first. Values: workspace, person, the item to go on after, how many. */
export const findNotifications = sql(
  'find_notifications',
  `select ${itemColumns} from notifications where workspace_id = $1 and user_id = $2 and id < $3 order by id desc limit $4`,
)

/** The same of unread items alone, by an index of their own. */
export const findUnreadNotifications = sql(
  'find_unread_notifications',
  `select ${itemColumns} from notifications
   where workspace_id = $1 and user_id = $2 and id < $3 and read_at is null order by id desc limit $4`,
)

/** How many items of an inbox are unread. Values: workspace, person. */
export const countUnreadNotifications = sql(
  'count_unread_notifications',
  'select count(*) from notifications where workspace_id = $1 and user_id = $2 and read_at is null',
)

/** Marks an item of an inbox; one that is marked keeps its time. Values: workspace, person, id. */
export const markNotificationRead = sql(
  'mark_notification',
  `update notifications set read_at = coalesce(read_at, now()) where workspace_id = $1 and user_id = $2 and id = $3 returning id`,
)

/** Marks all unread items of an inbox, in one order, so that two who do it at once wait and not for each other. Values: workspace, person. */
export const markAllNotificationsRead = sql(
  'mark_notifications',
  `with unread as (
     select id from notifications where workspace_id = $1 and user_id = $2 and read_at is null order by id for update
   )
   update notifications as item set read_at = now() from unread
   where item.workspace_id = $1 and item.user_id = $2 and item.id = unread.id`,
)
