import type { InboxQuery, Notification } from '#shared/core/notifications/inbox-schemas.ts'
import {
  countUnreadNotifications,
  findNotifications,
  findUnreadNotifications,
  type InboxItem,
  markAllNotificationsRead,
  markNotificationRead,
} from '#shared/core/notifications/store.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { firstRow } from '#shared/platform/db/database.ts'
import { cursorProblem, makeCursor, readCursor } from '#shared/platform/kernel/cursor.ts'
import { requireRow } from '#shared/platform/kernel/errors.ts'
import { highestId, isUuid } from '#shared/platform/kernel/ids.ts'
import { schema, t, uuid } from '#shared/platform/kernel/schema.ts'

// Every statement filters by the actor's personId. It is null for access keys, and for work of one person that runs for another: their
// inbox is empty.

export interface InboxPage {
  readonly notifications: Notification[]
  /** Null on the last page. */
  readonly next_cursor: string | null
}

/** Whose inbox, and the id of a notification in it. */
const inboxPosition = schema(t.Object({ personId: uuid, id: uuid }))

/**
 * The caller's notifications, newest event first. Throws VALIDATION_ERROR for a cursor of another inbox, or of this inbox with another
 * `unread`.
 */
export async function listNotifications(scope: Scope, query: InboxQuery): Promise<InboxPage> {
  const { db, workspace, actor } = scope
  const { personId, id } =
    query.cursor === undefined ? { personId: actor.personId, id: highestId } : readCursor(scope, query.cursor, inboxPosition)
  if (personId !== actor.personId) throw cursorProblem()
  const find = query.unread ? findUnreadNotifications : findNotifications
  const rows = await db.query(find({ workspaceId: workspace.id, userId: actor.personId, afterId: id, limit: query.limit + 1 }))
  const page = rows.slice(0, query.limit)
  const last = page.at(-1)
  return {
    notifications: page.map(viewOf),
    next_cursor: rows.length > query.limit && last ? makeCursor(scope, { personId, id: last.id }) : null,
  }
}

/** Number of the caller's unread notifications. */
export async function countUnread({ db, workspace, actor }: Scope): Promise<number> {
  return (await firstRow(db, countUnreadNotifications({ workspaceId: workspace.id, userId: actor.personId })))?.count ?? 0
}

/** Marks one of the caller's notifications as read; no change if already read. NOT_FOUND when the caller has no such notification. */
export async function markRead({ db, workspace, actor }: Scope, id: string): Promise<void> {
  requireRow(isUuid(id) ? await db.query(markNotificationRead({ workspaceId: workspace.id, userId: actor.personId, id })) : [])
}

/** Marks all current notifications of the caller as read. */
export async function markAllRead({ db, workspace, actor }: Scope): Promise<void> {
  await db.query(markAllNotificationsRead({ workspaceId: workspace.id, userId: actor.personId }))
}

const viewOf = ({ read_at, ...item }: InboxItem): Notification => ({
  ...item,
  read: read_at !== null,
  ...(read_at === null ? {} : { read_at }),
})
