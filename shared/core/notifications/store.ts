import type { NotificationRule } from '#shared/core/notifications/schemas.ts'
import type { Filter } from '#shared/core/records/query/filter-tree.ts'
import { declareConflicts } from '#shared/platform/db/database-errors.ts'
import { creationPage } from '#shared/platform/db/lists.ts'
import {
  bigint,
  boolean,
  instant,
  integer,
  json,
  type RowOf,
  selectList,
  text,
  texts,
  uuid,
  uuids,
} from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

declareConflicts({
  notification_rules_type: ['VALIDATION_ERROR', 'object_type must be the key of a record type'],
  notification_rules_cap: [
    'VALIDATION_ERROR',
    'object_type has 100 notification rules, the most that a record type can have; delete some first',
  ],
})

const ruleColumns = {
  id: uuid.notNull,
  name: text.notNull,
  object_type: text.notNull,
  event: text.as<NotificationRule['event']>().notNull,
  title: text.notNull,
  filter: json.as<Filter>(),
  audience: text.as<NotificationRule['audience']>().notNull,
  enabled: boolean.notNull,
  created_at: instant.notNull,
  updated_at: instant.notNull,
}
const ruleList = selectList(ruleColumns)

/** A page of a workspace's rules, oldest first. */
export const findRules = creationPage(
  'notifications.findRules',
  `select ${ruleList} from notification_rules where workspace_id = $workspaceId`,
  { params: { workspaceId: uuid }, columns: ruleColumns },
)

/** One rule. */
export const findRule = statement(
  'notifications.findRule',
  `select ${ruleList} from notification_rules where workspace_id = $workspaceId and id = $id`,
  { params: { workspaceId: uuid, id: uuid }, columns: ruleColumns },
)

/** The record types of all workspaces that have more than `most` rules. */
export const findCrowdedTypes = statement(
  'notifications.findCrowdedTypes',
  `select workspace_id, object_type, count(*) as rules from notification_rules
   group by workspace_id, object_type having count(*) > $most order by workspace_id, object_type`,
  { params: { most: bigint }, columns: { workspace_id: uuid.notNull, object_type: text.notNull, rules: bigint.notNull } },
)

/** Creates a rule. */
export const insertRule = statement(
  'notifications.insertRule',
  `insert into notification_rules (workspace_id, id, name, object_type, event, title, filter, audience)
   values ($workspaceId, $id, $name, $objectType, $event, $title, $filter::json, $audience)
   returning ${ruleList}`,
  {
    params: { workspaceId: uuid, id: uuid, name: text, objectType: text, event: text, title: text, filter: json.orNull, audience: text },
    columns: ruleColumns,
  },
)

/** Locks a rule until the transaction ends and returns it. */
export const lockRule = statement(
  'notifications.lockRule',
  `select ${ruleList} from notification_rules where workspace_id = $workspaceId and id = $id for update`,
  { params: { workspaceId: uuid, id: uuid }, columns: ruleColumns },
)

/** Changes a rule; a null leaves its column unchanged, but for the filter. */
export const updateRule = statement(
  'notifications.updateRule',
  `update notification_rules
   set name = coalesce($name, name), object_type = coalesce($objectType, object_type), event = coalesce($event, event),
     title = coalesce($title, title), filter = $filter::json, audience = coalesce($audience, audience), enabled = coalesce($enabled, enabled),
     updated_at = now()
   where workspace_id = $workspaceId and id = $id
   returning ${ruleList}`,
  {
    params: {
      workspaceId: uuid,
      id: uuid,
      name: text.orNull,
      objectType: text.orNull,
      event: text.orNull,
      title: text.orNull,
      filter: json.orNull,
      audience: text.orNull,
      enabled: boolean.orNull,
    },
    columns: ruleColumns,
  },
)

/** Deletes a rule. */
export const deleteRule = statement(
  'notifications.deleteRule',
  'delete from notification_rules where workspace_id = $workspaceId and id = $id returning id',
  { params: { workspaceId: uuid, id: uuid }, columns: { id: uuid.notNull } },
)

/** Those of the given rules that are on, by id. */
export const findNoticeRules = statement(
  'notifications.findNoticeRules',
  `select id, object_type, event, title, filter from notification_rules
   where workspace_id = $workspaceId and id = any($ids::uuid[]) and enabled order by id`,
  {
    params: { workspaceId: uuid, ids: uuids },
    columns: { id: uuid.notNull, object_type: text.notNull, event: text.notNull, title: text.notNull, filter: json.as<Filter>() },
  },
)

/**
 * Writes an item of each notice for each of the given people who is a member; and, if a member id to go on after is given, for each of the
 * next members by id. A person gets one item per key of a notice, or per event and listener. Members who joined after the event get none.
 * Returns the number of members addressed and the highest of their ids.
 *
 * From `titles` on, the parameters are arrays with one element per notice.
 */
export const insertNotifications = statement(
  'notifications.insertNotifications',
  `with audience as (
     select user_id, created_at from members where workspace_id = $workspaceId and user_id = any($userIds::uuid[])
     union all (
       select user_id, created_at from members
       where $afterUserId::uuid is not null and workspace_id = $workspaceId and user_id > $afterUserId order by user_id limit $limit
     )
   ),
   notice as materialized (
     select title, object_type, record_id, event, key, coalesce(event_id, uuidv7()) as id, listener_id,
       uuid_extract_timestamp(event_id) as happened_at
     from unnest(
         $titles::text[], $objectTypes::text[], $recordIds::uuid[], $events::text[], $keys::text[], $eventIds::uuid[], $listenerIds::uuid[]
       )
       as given (title, object_type, record_id, event, key, event_id, listener_id)
   ),
   put as (
     insert into notifications (workspace_id, user_id, id, title, object_type, record_id, event, key)
     select $workspaceId, member.user_id, notification_id(notice.id, coalesce(notice.listener_id, notice.id), member.user_id), notice.title,
       notice.object_type, notice.record_id, notice.event, notice.key
     from notice
     join audience as member on notice.happened_at is null or date_trunc('milliseconds', member.created_at) <= notice.happened_at
     on conflict do nothing
   )
   select count(*)::integer as count, (select user_id from audience order by user_id desc limit 1) as last from audience`,
  {
    params: {
      workspaceId: uuid,
      userIds: uuids,
      afterUserId: uuid.orNull,
      limit: bigint,
      titles: texts,
      objectTypes: texts,
      recordIds: uuids,
      events: texts,
      keys: texts,
      eventIds: uuids,
      listenerIds: uuids,
    },
    columns: { count: integer.notNull, last: uuid },
  },
)

/**
 * The members whom a notice is for: one member, the holders of a role, or both; with neither, all members. Also whether the person is a
 * member, and whether the role exists.
 */
export const findRecipients = statement(
  'notifications.findRecipients',
  `select
     coalesce(array_agg(member.user_id order by member.user_id) filter (where
       ($userId::uuid is null and $roleId::uuid is null) or member.user_id = $userId or exists (
         select from role_members as held where held.workspace_id = $workspaceId and held.role_id = $roleId and held.principal_id = member.user_id
       )
     ), '{}') as user_ids,
     coalesce(bool_or(member.user_id = $userId), false) as is_member,
     exists (select from roles where workspace_id = $workspaceId and id = $roleId and not is_anonymous) as is_role
   from members as member
   where member.workspace_id = $workspaceId`,
  {
    params: { workspaceId: uuid, userId: uuid.orNull, roleId: uuid.orNull },
    columns: { user_ids: uuids.notNull, is_member: boolean.notNull, is_role: boolean.notNull },
  },
)

const itemColumns = {
  id: uuid.notNull,
  title: text.notNull,
  object_type: text,
  record_id: uuid,
  event: text.notNull,
  read_at: instant,
  created_at: instant.notNull,
}
export type InboxItem = RowOf<typeof itemColumns>

/** The person is null for a caller without an inbox: nothing is found then. */
const inboxPage = { params: { workspaceId: uuid, userId: uuid.orNull, afterId: uuid, limit: bigint }, columns: itemColumns }

/** A page of an inbox, newest first. */
export const findNotifications = statement(
  'notifications.findNotifications',
  `select ${selectList(itemColumns)} from notifications
   where workspace_id = $workspaceId and user_id = $userId and id < $afterId order by id desc limit $limit`,
  inboxPage,
)

/** Same as `findNotifications` for unread items only, which have an index of their own. */
export const findUnreadNotifications = statement(
  'notifications.findUnreadNotifications',
  `select ${selectList(itemColumns)} from notifications
   where workspace_id = $workspaceId and user_id = $userId and id < $afterId and read_at is null order by id desc limit $limit`,
  inboxPage,
)

/** The number of unread items of an inbox. */
export const countUnreadNotifications = statement(
  'notifications.countUnreadNotifications',
  'select count(*) from notifications where workspace_id = $workspaceId and user_id = $userId and read_at is null',
  { params: { workspaceId: uuid, userId: uuid.orNull }, columns: { count: bigint.notNull } },
)

/** Marks an item of an inbox as read; an item that is already read keeps its time. */
export const markNotificationRead = statement(
  'notifications.markNotificationRead',
  `update notifications set read_at = coalesce(read_at, now())
   where workspace_id = $workspaceId and user_id = $userId and id = $id returning id`,
  { params: { workspaceId: uuid, userId: uuid.orNull, id: uuid }, columns: { id: uuid.notNull } },
)

/** Marks all unread items of an inbox as read. Locks them in the order of their ids, so that two concurrent calls cannot deadlock. */
export const markAllNotificationsRead = statement(
  'notifications.markAllNotificationsRead',
  `with unread as (
     select id from notifications where workspace_id = $workspaceId and user_id = $userId and read_at is null order by id for update
   )
   update notifications as item set read_at = now() from unread
   where item.workspace_id = $workspaceId and item.user_id = $userId and item.id = unread.id`,
  { params: { workspaceId: uuid, userId: uuid.orNull } },
)
