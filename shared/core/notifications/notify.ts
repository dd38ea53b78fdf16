import { maxTitle, type NoticeInput } from '#shared/core/notifications/inbox-schemas.ts'
import { findRecipients, insertNotifications } from '#shared/core/notifications/store.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { findRecordType, unknownTypeProblem } from '#shared/core/types/record-type.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid, lowestId, newId } from '#shared/platform/kernel/ids.ts'
import { cutText } from '#shared/platform/kernel/values/text.ts'

/** Approximate number of items per statement when every member is notified: a statement serves as many members as fit, at least one. */
const itemsPerStatement = 10_000

/** Recipients: everyone who was a member at the time of the event. */
export const everyMember = 'every member'

/** Content of an inbox item. It reaches every recipient whatever they may read, so it must hold no value of a record. */
export interface Notice {
  /** Cut after 200 characters. */
  readonly title: string
  /** The record concerned; null for none. */
  readonly record: { readonly type: string; readonly id: string } | null
  /** Event name of the feature, such as `payment.late`. */
  readonly event: string
  /**
   * Deduplication key: each recipient gets one item per key. A pair of ids stands for an event and the listener that received it; the item
   * then has the time of the event, and members who joined after the event get none.
   */
  readonly key: string | { readonly event: string; readonly listener: string }
}

interface NotifyScope {
  readonly db: Executor
  readonly workspace: { readonly id: string }
}

/**
 * Adds an item of each notice to the inbox of each recipient who is a member of the workspace. Idempotent by key, so repeated work may call
 * it; inside a transaction the items commit with it. Returns the number of members addressed.
 */
export async function notify(
  { db, workspace }: NotifyScope,
  recipients: readonly string[] | typeof everyMember,
  notices: readonly Notice[],
): Promise<number> {
  if (notices.length === 0) return 0
  const columns = columnsOf(notices)
  const insertBatch = async (userIds: readonly string[], afterUserId: string | null, limit: number) => {
    const [inserted] = await db.query(insertNotifications({ workspaceId: workspace.id, userIds, afterUserId, limit, ...columns }))
    return inserted ?? { count: 0, last: null }
  }
  if (recipients !== everyMember) return (await insertBatch(recipients, null, 0)).count
  const maxMembers = Math.max(1, Math.floor(itemsPerStatement / notices.length))
  for (let after = lowestId, members = 0; ; ) {
    const { count, last } = await insertBatch([], after, maxMembers)
    members += count
    if (last === null || count < maxMembers) return members
    after = last
  }
}

/** Notices as the parallel arrays that `insertNotifications` takes. */
function columnsOf(notices: readonly Notice[]) {
  const eventOf = ({ key }: Notice) => (typeof key === 'string' ? undefined : key)
  return {
    titles: notices.map(({ title }) => cutText(title, maxTitle)),
    objectTypes: notices.map(({ record }) => record?.type ?? null),
    recordIds: notices.map(({ record }) => record?.id ?? null),
    events: notices.map(({ event }) => event),
    keys: notices.map(({ key }) => (typeof key === 'string' ? key : null)),
    eventIds: notices.map((notice) => eventOf(notice)?.event ?? null),
    listenerIds: notices.map((notice) => eventOf(notice)?.listener ?? null),
  }
}

/**
 * Notifies the named member, the holders of a role, or both; with neither, every member. Idempotent by `deduplicationKey`. Throws
 * VALIDATION_ERROR naming a user that is not a member, an unknown role or type, or a malformed id.
 */
export async function sendNotice(scope: Scope, input: NoticeInput, { deduplicationKey = newId() } = {}): Promise<{ count: number }> {
  const userId = parseId(input.user_id, 'user_id')
  const roleId = parseId(input.role_id, 'role_id')
  const record = await resolveRecord(scope, input)
  const [found] = await scope.db.query(findRecipients({ workspaceId: scope.workspace.id, userId, roleId }))
  if (userId !== null && !found?.is_member) throw problem('VALIDATION_ERROR', 'user_id must be a member of the workspace')
  if (roleId !== null && !found?.is_role) throw problem('VALIDATION_ERROR', 'role_id must be a role of the workspace')
  const notice = { title: input.title, record, event: 'notice', key: `notice ${deduplicationKey}` }
  const count = await notify(scope, found?.user_ids ?? [], [notice])
  return { count }
}

function parseId(text: string | null | undefined, path: string): string | null {
  if (!text) return null
  if (!isUuid(text)) throw problem('VALIDATION_ERROR', `${path} must be an id`)
  return text
}

async function resolveRecord(scope: Scope, input: NoticeInput): Promise<Notice['record']> {
  const id = parseId(input.record_id, 'record_id')
  if (!input.object_type) {
    if (id !== null) throw problem('VALIDATION_ERROR', 'object_type is required beside record_id')
    return null
  }
  if (id === null) throw problem('VALIDATION_ERROR', 'record_id is required beside object_type')
  if (!(await findRecordType(scope, input.object_type))) throw await unknownTypeProblem(scope, 'object_type', input.object_type)
  return { type: input.object_type, id }
}
