import { cursorParameters } from '#shared/platform/db/lists.ts'
import { nullable, schema, type TypeOf, t, uuid } from '#shared/platform/kernel/schema.ts'

/** An item of an inbox (docs/contract/notifications.md#inbox-items). It holds no value of the record, so every member may receive it. */
const notification = t.Object(
  {
    id: uuid,
    title: t.String({ description: 'The title. An item of a rule has the title that the rule had at that time.' }),
    object_type: nullable(t.String({ description: 'The type of the record that the item is about; null for an item without a record.' })),
    record_id: nullable(uuid),
    event: t.String({ description: 'created, updated or deleted, or an event of a feature such as payment.late.' }),
    read: t.Boolean(),
    read_at: t.Optional(t.String({ format: 'date-time', description: 'Present once the item is read.' })),
    created_at: t.String({ format: 'date-time', description: 'When the event happened.' }),
  },
  { title: 'InboxNotification' },
)
export type Notification = TypeOf<ReturnType<typeof schema<typeof notification>>>

/** A page of the caller's inbox. */
export const inboxPage = schema(
  t.Object(
    {
      notifications: t.Array(notification),
      next_cursor: nullable(t.String({ description: 'Where the next page starts; null at the end.' })),
    },
    { title: 'InboxPage' },
  ),
)

/** Filter and page of the inbox. */
export const inboxQuery = schema(
  t.Object({
    unread: t.Boolean({ default: false, description: 'True: only unread notifications.' }),
    ...cursorParameters({ maximum: 100 }),
  }),
)
export type InboxQuery = TypeOf<typeof inboxQuery>

/** Number of unread items. */
export const unreadCount = schema(t.Object({ count: t.Integer({ minimum: 0 }) }, { title: 'UnreadCount' }))

/** Maximum characters of an item's title. */
export const maxTitle = 200

/**
 * Input of `action.notify` (docs/contract/flows.md#action-blocks). Recipients: a member, the holders of a role, or with neither every
 * member.
 */
export const noticeInput = schema(
  t.Object(
    {
      title: t.String({ minLength: 1, maxLength: maxTitle }),
      user_id: t.Optional(nullable(t.String({ description: 'A member who gets the item.' }))),
      role_id: t.Optional(nullable(t.String({ description: 'A role whose holders get the item.' }))),
      object_type: t.Optional(nullable(t.String({ description: 'The type of the record that the item is about.' }))),
      record_id: t.Optional(nullable(t.String({ description: 'The record that the item is about.' }))),
    },
    { title: 'NoticeInput' },
  ),
)
export type NoticeInput = TypeOf<typeof noticeInput>
