import { declareConflicts } from '#shared/platform/db/database-errors.ts'
import { creationPageSql } from '#shared/platform/db/lists.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'

declareConflicts({ notification_rules_type: ['VALIDATION_ERROR', 'object_type must be the key of a record type'] })

const ruleColumns = 'id, name, object_type, event, title, audience, enabled, created_at, updated_at'

/** Rules of a workspace, oldest first. Values: workspace, instant and id to go on after, how many. */
export const findRules = creationPageSql('list_rules', `select ${ruleColumns} from notification_rules where workspace_id = $1`, 1)

/** One rule. Values: workspace, id. */
export const findRule = sql('find_rule', `select ${ruleColumns} from notification_rules where workspace_id = $1 and id = $2`)

/** Creates a rule. Values: workspace, id, name, type key, event, title, audience. */
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
 * Writes an item of each notice for each of the given people who is a member; and, if a member id to go on after is given, for each of the
 * next members by id. A person gets one item per key of a notice, or per event and listener. Members who joined after the event get none.
 * Returns the number of members addressed and the highest of their ids.
 *
 * Values: workspace, people, the member id to go on after or null, maximum of such members; then arrays with one element per notice:
 * titles, type keys, record ids, event names, keys, event ids, listener ids.
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
 * The members whom a notice is for: one member, the holders of a role, or both; with neither, all members. Also whether the person is a
 * member, and whether the role exists. Values: workspace, person or null, role or null.
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

/** Same as `findNotifications` for unread items only, which have an index of their own. */
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

/** Marks an item of an inbox as read; an item that is already read keeps its time. Values: workspace, person, id. */
export const markNotificationRead = sql(
  'mark_notification',
  `update notifications set read_at = coalesce(read_at, now()) where workspace_id = $1 and user_id = $2 and id = $3 returning id`,
)

/**
 * Marks all unread items of an inbox as read. Locks them in the order of their ids, so that two concurrent calls cannot deadlock. Values:
 * workspace, person.
 */
export const markAllNotificationsRead = sql(
  'mark_notifications',
  `with unread as (
     select id from notifications where workspace_id = $1 and user_id = $2 and read_at is null order by id for update
   )
   update notifications as item set read_at = now() from unread
   where item.workspace_id = $1 and item.user_id = $2 and item.id = unread.id`,
)
