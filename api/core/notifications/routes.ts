import * as examples from '#api/core/notifications/examples.ts'
import { ids } from '#api/http/example-ids.ts'
import { withNextLink } from '#api/http/reply/link-header.ts'
import { answer, orgPath } from '#api/http/route.ts'
import { countUnread, listNotifications, markAllRead, markRead } from '#shared/core/notifications/inbox.ts'
import { inboxPage, inboxQuery, unreadCount } from '#shared/core/notifications/inbox-schemas.ts'
import {
  changeNotificationRule,
  createNotificationRule,
  findNotificationRule,
  getNotificationRule,
  listNotificationRules,
  removeNotificationRule,
} from '#shared/core/notifications/rules.ts'
import { notificationRule, notificationRuleChange, notificationRuleInput } from '#shared/core/notifications/schemas.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { linkedQuery } from '#shared/platform/db/lists.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

/** Permissions on a rule are checked on its record type, those on an unknown one on every item. */
const onTypeOfRule = async ({ params }: { params: { ruleId: string } }, scope: Scope) => {
  const resource = await findNotificationRule(scope, params.ruleId)
  return { key: resource?.object_type ?? '*', resource }
}

const common = { tag: 'Notifications', app: null, limit: null } as const
const rules = `${orgPath}/notification-rules` as const
const rule = `${rules}/:ruleId` as const
const inbox = `${orgPath}/notifications` as const

export const routes = [
  answer({
    ...common,
    method: 'GET',
    path: rules,
    summary: 'List notification rules',
    description: 'The rules of the record types whose rules the caller may read, oldest first.',
    example: { query: { limit: 20 }, answer: [examples.rule] },
    permission: 'notifications:read',
    perItem: true,
    query: linkedQuery,
    status: 200,
    linked: true,
    response: schema(t.Array(notificationRule.json)),
    handle: async (request, scope) => withNextLink(request, scope, await listNotificationRules(scope, request.query)),
  }),
  answer({
    ...common,
    method: 'POST',
    path: rules,
    summary: 'Create a notification rule',
    description: 'It is enabled at once and fires on changes from then on.',
    example: {
      body: {
        name: 'Large orders',
        object_type: 'orders',
        event: 'created',
        title: 'A large order has come in',
        filter: { field: 'order_total', op: 'gte', value: '1000' },
      },
      answer: examples.rule,
    },
    permission: 'notifications:create',
    onBody: ({ body }) => body.object_type,
    body: notificationRuleInput,
    status: 201,
    response: notificationRule,
    handle: ({ body }, scope) => createNotificationRule(scope, body),
  }),
  answer({
    ...common,
    method: 'GET',
    path: rule,
    summary: 'Get a notification rule',
    description: "A rule puts an item into the inbox of every member when a record of the rule's type changes.",
    example: { params: { ruleId: ids.rule }, answer: examples.rule },
    permission: 'notifications:read',
    on: onTypeOfRule,
    status: 200,
    response: notificationRule,
    handle: ({ params }, scope) => getNotificationRule(scope, params.ruleId),
  }),
  answer({
    ...common,
    method: 'PUT',
    path: rule,
    summary: 'Change a notification rule',
    description:
      'Omitted properties stay unchanged. A disabled rule is kept and does not fire. Another record type needs the permission on that type too.',
    example: { params: { ruleId: ids.rule }, body: { enabled: false }, answer: examples.pausedRule },
    permission: 'notifications:create',
    on: onTypeOfRule,
    body: notificationRuleChange,
    stored: ({ params }, scope) => getNotificationRule(scope, params.ruleId),
    status: 200,
    response: notificationRule,
    handle: ({ params, body }, scope) => changeNotificationRule(scope, params.ruleId, body),
  }),
  answer({
    ...common,
    method: 'DELETE',
    path: rule,
    summary: 'Delete a notification rule',
    description: 'Inbox items that the rule made stay.',
    example: { params: { ruleId: ids.rule } },
    permission: 'notifications:delete',
    on: onTypeOfRule,
    status: 204,
    response: null,
    handle: ({ params }, scope) => removeNotificationRule(scope, params.ruleId),
  }),
  answer({
    ...common,
    method: 'GET',
    path: inbox,
    summary: 'List my notifications',
    description: 'Newest first by cursor. The inbox of an access key is empty.',
    example: { query: { unread: true, limit: 20 }, answer: { notifications: [examples.notification], next_cursor: null } },
    permission: 'member',
    query: inboxQuery,
    status: 200,
    response: inboxPage,
    handle: ({ query }, scope) => listNotifications(scope, query),
  }),
  answer({
    ...common,
    method: 'GET',
    path: `${inbox}/unread-count`,
    summary: 'Count my unread notifications',
    description: 'Always 0 for an access key.',
    example: { answer: { count: 1 } },
    permission: 'member',
    status: 200,
    response: unreadCount,
    handle: async (_request, scope) => ({ count: await countUnread(scope) }),
  }),
  answer({
    ...common,
    method: 'POST',
    path: `${inbox}/read/:notificationId`,
    summary: 'Mark one of my notifications as read',
    description: 'Nothing changes if the notification is read already.',
    example: { params: { notificationId: ids.notification } },
    permission: 'member',
    status: 204,
    response: null,
    handle: ({ params }, scope) => markRead(scope, params.notificationId),
  }),
  answer({
    ...common,
    method: 'POST',
    path: `${inbox}/read-all`,
    summary: 'Mark all my notifications as read',
    description: 'Marks the notifications that exist now.',
    example: {},
    permission: 'member',
    status: 204,
    response: null,
    handle: (_request, scope) => markAllRead(scope),
  }),
]
