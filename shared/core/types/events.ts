import type { EventFamily, ShowEvent } from '#shared/core/events/event-type.ts'
import { showStored } from '#shared/core/events/show-stored.ts'
import { permits } from '#shared/core/scope/access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { announceEvents } from '#shared/platform/events/announce.ts'
import { newId } from '#shared/platform/kernel/ids.ts'
import { nullable, t } from '#shared/platform/kernel/schema.ts'

const changes = ['created', 'updated', 'deleted'] as const

/** A change of a record type or of its fields. */
export interface TypeChanged {
  readonly id: string
  readonly key: string
  readonly change: (typeof changes)[number]
  /** Keys of the fields that were created, changed or deleted. */
  readonly fields?: readonly string[]
}

type Announcer = Pick<Scope, 'db' | 'jobQueue' | 'cause'> & { readonly workspace: { readonly id: string } }

/** Puts a change of a record type into the list of events, in the transaction that makes it. */
export function announceTypeChange(scope: Announcer, { id, key, change, fields = [] }: TypeChanged): Promise<void> {
  const event = { id: newId(), subjectId: id, subject: { object_type: key }, snapshot: { change, fields } }
  return announceEvents(scope, { type: 'types.changed', source: 'types', topic: key, event: 'changed', events: [event] })
}

/** Puts a change of a field into the list of events, as one of its type. */
export const announceFieldChange = (scope: Announcer, { id, key }: Pick<TypeChanged, 'id' | 'key'>, field: { readonly key: string }) =>
  announceTypeChange(scope, { id, key, change: 'updated', fields: [field.key] })

/** Shows changes to who may read the type; keys of fields to who may read its fields, too. */
const prepareChanges =
  async (scope: Scope): Promise<ShowEvent> =>
  async (event) => {
    if (!permits(scope, 'types:read', event.topic)) return undefined
    const shown = showStored(event)
    if (!shown || permits(scope, 'fields:read', event.topic)) return shown
    return { ...shown, data: { ...shown.data, fields: null } }
  }

export const typeEvents: EventFamily = {
  types: [
    {
      type: 'types.changed',
      description: 'A record type was created, changed or deleted, or one of its fields was.',
      permission: 'types:read',
      subject: t.Object({ object_type: t.String({ description: 'Key of the record type.' }) }, { title: 'TypeSubject' }),
      data: t.Object({
        change: t.Enum([...changes], { description: 'What happened to the type; `updated` also for its fields.' }),
        fields: nullable(
          t.Array(t.String(), {
            description: 'Keys of the fields that were created, changed or deleted; null without fields:read of the type.',
          }),
        ),
      }),
      example: { subject: { object_type: 'orders' }, data: { change: 'updated', fields: ['order_status'] } },
    },
  ],
  prepare: prepareChanges,
}
