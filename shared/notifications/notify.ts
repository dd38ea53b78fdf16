import { problem } from '#shared/kernel/errors.ts'
import { isUuid, newId } from '#shared/kernel/ids.ts'
import { nullable, schema, type TypeOf, t } from '#shared/kernel/schema.ts'
import { putItems, recipientsOf } from '#shared/notifications/store.ts'
import type { Scope } from '#shared/scope/scope.ts'
import { findRecordType } from '#shared/types/record-type.ts'

/** The most characters of a title. */
const maxTitle = 200

/** What a room tells people. It reaches everybody named, whatever they may read: no value of a record belongs into it. */
export interface Notice {
  /** Cut after 200 characters. */
  readonly title: string
  /** The record that it is about; null for none. */
  readonly record: { readonly type: string; readonly id: string } | null
  /** What happened, in the room's own words, such as `payment.late`. */
  readonly event: string
  /** What happened, named so that the same again is known: everybody gets one item of a key. */
  readonly key: string
}

/**
 * Puts an item into the inbox of each of these people who is a member of the workspace. Doing it again under the same key adds none, so it
 * may stand in work that is repeated; in a transaction it commits with it. Returns how many members it is for.
 */
export async function notify({ db, workspace }: Scope, recipients: readonly string[], notice: Notice): Promise<number> {
  const { title, record, event, key } = notice
  const text = [...title].slice(0, maxTitle).join('')
  const statement = putItems(workspace.id, recipients, text, record?.type ?? null, record?.id ?? null, event, key)
  return (await db.query<{ count: number }>(statement))[0]?.count ?? 0
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
  const [found] = await scope.db.query<Found>(recipientsOf(scope.workspace.id, userId, roleId))
  if (userId !== null && !found?.is_member) throw problem('VALIDATION_ERROR', 'user_id must be a member of the workspace')
  if (roleId !== null && !found?.is_role) throw problem('VALIDATION_ERROR', 'role_id must be a role of the workspace')
  const count = await notify(scope, found?.user_ids ?? [], { title: input.title, record, event: 'notice', key: `notice ${naturalKey}` })
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
  if (!(await findRecordType(scope, input.object_type))) throw problem('VALIDATION_ERROR', 'object_type must be the key of a record type')
  return { type: input.object_type, id }
}
