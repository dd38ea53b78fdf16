import { findRecipients, insertNotifications } from '#shared/core/notifications/store.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { findRecordType, unknownTypeProblem } from '#shared/core/types/record-type.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid, newId } from '#shared/platform/kernel/ids.ts'
import { nullable, schema, type TypeOf, t } from '#shared/platform/kernel/schema.ts'

/** The most characters of a title. */
const maxTitle = 200

/** Items that one statement writes, about: members are taken so many at a time, one at least. */
const itemsPerStatement = 10_000

/** All members, as recipients of what is told of events: those who were members at the time. */
export const everyMember = 'every member'

/** What people are told. It reaches everybody named, whatever they may read: no value of a record belongs into it. */
export interface Notice {
  /** Cut after 200 characters. */
  readonly title: string
  /** The record that it is about; null for none. */
  readonly record: { readonly type: string; readonly id: string } | null
  /** What happened, in the room's own words, such as `payment.late`. */
  readonly event: string
  /**
   * What happened, named so that the same again is known: everybody gets one item of a key. Where somebody listened to an event that has an
   * id, these two; then the item has the event's time, and whoever joined after it gets none.
   */
  readonly key: string | { readonly event: string; readonly listener: string }
}

interface Place {
  readonly db: Executor
  readonly workspace: { readonly id: string }
}

/**
 * Puts an item of each notice into the inbox of each of these people who is a member of the workspace. Doing it again under the same keys
 * adds none, so it may stand in work that is repeated; in a transaction it commits with it. Returns how many members it is for.
 */
export async function notify(
  { db, workspace }: Place,
  recipients: readonly string[] | typeof everyMember,
  notices: readonly Notice[],
): Promise<number> {
  if (notices.length === 0) return 0
  const columns = columnsOf(notices)
  const put = async (named: readonly string[], after: string | null, atMost: number): Promise<Put> =>
    (await db.query<Put>(insertNotifications(workspace.id, named, after, atMost, ...columns)))[0] ?? { count: 0, last: null }
  if (recipients !== everyMember) return (await put(recipients, null, 0)).count
  const atMost = Math.max(1, Math.floor(itemsPerStatement / notices.length))
  for (let after = lowestId, members = 0; ; ) {
    const { count, last } = await put([], after, atMost)
    members += count
    if (last === null || count < atMost) return members
    after = last
  }
}

const lowestId = '00000000-0000-0000-0000-000000000000'

/** What one statement did. */
interface Put {
  readonly count: number
  readonly last: string | null
}

/** As the statement takes them. */
function columnsOf(notices: readonly Notice[]) {
  const eventOf = ({ key }: Notice) => (typeof key === 'string' ? undefined : key)
  return [
    notices.map(({ title }) => [...title].slice(0, maxTitle).join('')),
    notices.map(({ record }) => record?.type ?? null),
    notices.map(({ record }) => record?.id ?? null),
    notices.map(({ event }) => event),
    notices.map(({ key }) => (typeof key === 'string' ? key : null)),
    notices.map((notice) => eventOf(notice)?.event ?? null),
    notices.map((notice) => eventOf(notice)?.listener ?? null),
  ] as const
}

/** What `action.notify` is told (decisions, Flows): a member, those who hold a role, or with neither every member. */
export const noticeInput = schema(
  t.Object(
    {
      title: t.String({ minLength: 1, maxLength: maxTitle }),
      user_id: t.Optional(nullable(t.String({ description: 'A member who gets it.' }))),
      role_id: t.Optional(nullable(t.String({ description: 'A role whose holders get it.' }))),
      object_type: t.Optional(nullable(t.String({ description: 'The type of the record that it is about.' }))),
      record_id: t.Optional(nullable(t.String({ description: 'The record that it is about.' }))),
    },
    { title: 'NoticeInput' },
  ),
)
export type NoticeInput = TypeOf<typeof noticeInput>

/**
 * Tells members something: the one named, the holders of a role, or both; with neither, all. The same again under the same natural key
 * reaches nobody twice. Throws VALIDATION_ERROR naming a user that is no member, a role, a type or an id that is none.
 */
export async function sendNotice(scope: Scope, input: NoticeInput, { naturalKey = newId() } = {}): Promise<{ count: number }> {
  const userId = idIn(input.user_id, 'user_id')
  const roleId = idIn(input.role_id, 'role_id')
  const record = await recordOf(scope, input)
  const [found] = await scope.db.query<Found>(findRecipients(scope.workspace.id, userId, roleId))
  if (userId !== null && !found?.is_member) throw problem('VALIDATION_ERROR', 'user_id must be a member of the workspace')
  if (roleId !== null && !found?.is_role) throw problem('VALIDATION_ERROR', 'role_id must be a role of the workspace')
  const notice = { title: input.title, record, event: 'notice', key: `notice ${naturalKey}` }
  const count = await notify(scope, found?.user_ids ?? [], [notice])
  return { count }
}

interface Found {
  readonly user_ids: readonly string[]
  readonly is_member: boolean
  readonly is_role: boolean
}

function idIn(text: string | null | undefined, path: string): string | null {
  if (!text) return null
  if (!isUuid(text)) throw problem('VALIDATION_ERROR', `${path} must be an id`)
  return text
}

async function recordOf(scope: Scope, input: NoticeInput): Promise<Notice['record']> {
  const id = idIn(input.record_id, 'record_id')
  if (!input.object_type) {
    if (id !== null) throw problem('VALIDATION_ERROR', 'object_type is required beside record_id')
    return null
  }
  if (id === null) throw problem('VALIDATION_ERROR', 'record_id is required beside object_type')
  if (!(await findRecordType(scope, input.object_type))) throw await unknownTypeProblem(scope, 'object_type', input.object_type)
  return { type: input.object_type, id }
}
