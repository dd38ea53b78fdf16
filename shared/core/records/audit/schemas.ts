import { pageLimit } from '#shared/platform/db/lists.ts'
import { changeEvents } from '#shared/platform/events/event-delivery.ts'
import { causeView } from '#shared/platform/kernel/cause.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { instant, nullable, schema, type TypeOf, t, uuid } from '#shared/platform/kernel/schema.ts'
import { toUtcInstant } from '#shared/platform/kernel/time/instant.ts'

/** Every action that an entry may have: changes of records, and deletions of work queues. */
export const auditActions = [...changeEvents.map((event) => `record.${event}` as const), 'queue.deleted'] as const

const values = (text: string) =>
  nullable(
    t.Record(t.String(), t.Unknown(), {
      description: `${text} A field that the caller may not read is left out, and so is a value of a field that is gone, unless no rule hides a field of the type from the caller.`,
    }),
  )

const auditEntry = t.Object(
  {
    id: uuid,
    actor_id: nullable(uuid),
    actor_type: t.String({ description: 'user, service (an access key) or system (the platform, with no signed-in caller).' }),
    action: t.String({ description: `${auditActions.slice(0, -1).join(', ')} or ${auditActions.at(-1)}.` }),
    object_type: t.String({ description: 'Key of the record type.' }),
    record_id: uuid,
    before: values('Changed values as they were; null for a creation.'),
    after: values('Changed values as they became; null for a deletion.'),
    request_id: t.String(),
    cause: nullable(causeView),
    undo_of: nullable(t.String({ format: 'uuid', description: 'The entry whose change this one took back; null in all others.' })),
    record: nullable(
      t.Object(
        { created_by: nullable(uuid), created_at: instant, updated_at: instant },
        {
          title: 'DeletedRecord',
          description: 'Creator and dates of a deleted record; null in entries of other changes, and in those of earlier releases.',
        },
      ),
    ),
    created_at: instant,
  },
  { title: 'AuditEntry', description: 'One change of a record.' },
)
export type AuditEntry = TypeOf<ReturnType<typeof schema<typeof auditEntry>>>

/** A page of audit entries. `total` is the exact number of matching entries that the caller may see. */
export const auditPage = schema(t.Object({ entries: t.Array(auditEntry), total: t.Integer({ minimum: 0 }) }, { title: 'AuditPage' }))
export type AuditPage = TypeOf<typeof auditPage>

/** Query parameters of an audit listing (docs/contract/records.md#audit). */
export const auditQuery = schema(
  t.Object({
    object_type: t.Optional(t.String()),
    record_id: t.Optional(uuid),
    actor: t.Optional(t.String({ format: 'uuid', description: 'Id of a member or service account.' })),
    action: t.Optional(t.Enum([...auditActions])),
    from: t.Optional(t.String({ description: 'RFC 3339; entries of that instant are included.' })),
    to: t.Optional(t.String({ description: 'RFC 3339; entries of that instant are included.' })),
    limit: pageLimit(),
    offset: t.Integer({ minimum: 0, default: 0 }),
  }),
)
export type AuditQuery = TypeOf<typeof auditQuery>

/**
 * The ids that bound a time range: `from` inclusive, `to` exclusive. An entry's id is a UUID of version 7, which holds its time in
 * milliseconds, so the range is exact. Throws VALIDATION_ERROR that names a parameter that is not an instant.
 */
export function auditIdRange({ from, to }: Pick<AuditQuery, 'from' | 'to'>): { from: string | undefined; to: string | undefined } {
  return {
    from: from === undefined ? undefined : firstIdFrom(from, 'from'),
    to: to === undefined ? undefined : firstIdAfter(to, 'to'),
  }
}

/** The lowest id of entries at an instant or later. Throws VALIDATION_ERROR that names the parameter. */
export const firstIdFrom = (text: string, name = ''): string => firstIdOf(millisecondsOf(text, name).ceiling)

/** The lowest id of entries after the millisecond of an instant. Throws VALIDATION_ERROR that names the parameter. */
export const firstIdAfter = (text: string, name: string): string => firstIdOf(millisecondsOf(text, name).floor + 1)

function millisecondsOf(text: string, name: string): { floor: number; ceiling: number } {
  const instant = toUtcInstant(text)
  if (instant === undefined) throw problem('VALIDATION_ERROR', `${name} must be an instant as RFC 3339 writes it, got ${text}`)
  const floor = Date.parse(`${instant.slice(0, 23)}Z`)
  return { floor, ceiling: instant.slice(23) === '000Z' ? floor : floor + 1 }
}

function firstIdOf(milliseconds: number): string {
  const time = Math.max(0, milliseconds).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`
}
