import type { EventFamily, EventType } from '#shared/core/events/event-type.ts'
import { changeViews } from '#shared/core/records/events/show-changes.ts'
import { nullable, t, uuid } from '#shared/platform/kernel/schema.ts'

const subject = t.Object({ object_type: t.String({ description: 'Key of the record type.' }), id: uuid }, { title: 'RecordSubject' })

const values = (description: string) => nullable(t.Record(t.String(), t.Unknown(), { description }))

const data = t.Object(
  {
    view: t.Enum(['entered', 'changed', 'left'], {
      description:
        'What the change is for you: a record that you read from now on, one that you read before and after, or one that you no longer read.',
    }),
    before: values('Values before: of an update the changed ones, of a deletion all; null of a record that you did not read before.'),
    after: values('Values after: of an update the changed ones, of a creation all; null of a record that left.'),
    changed: t.Array(t.String(), {
      description: 'Keys of the fields that changed and that you may read; of a creation those with a value.',
    }),
  },
  { title: 'RecordChange' },
)

const common = { permission: 'records:read', subject, data } as const
const order = { object_type: 'orders', id: '01a19de5-7f04-7213-9771-5ae204c7a91c' }
const values1042 = { customer: 'Café Lindgren', order_total: 128.5, order_status: 'open' }

const types: readonly EventType[] = [
  {
    ...common,
    type: 'records.created',
    description: 'A record was created.',
    example: { subject: order, data: { view: 'entered', before: null, after: values1042, changed: Object.keys(values1042) } },
  },
  {
    ...common,
    type: 'records.updated',
    description: 'Values of a record changed, also by a recompute of formulas.',
    example: {
      subject: order,
      data: { view: 'changed', before: { order_status: 'open' }, after: { order_status: 'done' }, changed: ['order_status'] },
    },
  },
  {
    ...common,
    type: 'records.deleted',
    description: 'A record was deleted.',
    example: { subject: order, data: { view: 'left', before: values1042, after: null, changed: [] } },
  },
]

export const recordEvents: EventFamily = { types, prepare: changeViews.prepare, share: changeViews.share }
