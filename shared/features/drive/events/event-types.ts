import type { EventFamily, EventType } from '#shared/core/events/event-type.ts'
import { prepareObjectEvents } from '#shared/features/drive/events/show-objects.ts'
import { nullable, t } from '#shared/platform/kernel/schema.ts'

const subject = t.Object(
  { space: t.String({ format: 'uuid', description: 'Id of the space.' }), key: t.String({ description: 'Key of the file.' }) },
  { title: 'DriveObjectSubject' },
)
const file = { size: t.Integer({ minimum: 0, description: 'Bytes.' }), content_type: t.String() }
const common = { permission: 'drive:read', subject, data: t.Object(file, { title: 'DriveObjectData' }) } as const
const offer = { size: 48213, content_type: 'application/pdf' }
const place = { space: '01a19c70-5d0e-7c1b-b7a2-0e4f7a11c9d3', key: '2027/offer.pdf' }
const example = { subject: place, data: offer }

const types: readonly EventType[] = [
  { ...common, type: 'drive.object.created', description: 'A file was written under a new key.', example },
  { ...common, type: 'drive.object.replaced', description: 'A file was written under the key of another, which is gone.', example },
  {
    ...common,
    type: 'drive.object.moved',
    description: 'A file was moved or renamed, alone or with its folder.',
    data: t.Object(
      {
        view: t.Enum(['entered', 'changed', 'left'], {
          description: 'Whether you may read the new key alone, both keys, or the old key alone, which is then the one of the subject.',
        }),
        from: nullable(t.String({ description: 'The old key; null where you may not read both.' })),
        ...file,
      },
      { title: 'DriveObjectMove' },
    ),
    example: { subject: { ...place, key: 'archive/2027/offer.pdf' }, data: { view: 'changed', from: place.key, ...offer } },
  },
  { ...common, type: 'drive.object.deleted', description: 'A file was deleted, alone or with its folder.', example },
]

export const objectEvents: EventFamily = { types, prepare: prepareObjectEvents }
