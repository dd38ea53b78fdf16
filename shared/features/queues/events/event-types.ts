import type { EventFamily, EventType } from '#shared/core/events/event-type.ts'
import { prepareItemEvents } from '#shared/features/queues/events/show-items.ts'
import { closedStatuses } from '#shared/features/queues/events/store.ts'
import { itemSources, itemStatuses } from '#shared/features/queues/items/schemas.ts'
import { instant, nullable, t, uuid } from '#shared/platform/kernel/schema.ts'

const subject = t.Object(
  { queue: t.String({ format: 'uuid', description: 'Id of the queue.' }), id: uuid, key: t.String({ description: 'Key of the item.' }) },
  { title: 'QueueItemSubject' },
)
const common = { permission: 'queues:read', subject } as const
const stage = t.String({ description: 'Key of the stage.' })
const status = t.Enum([...itemStatuses])
const ofItem = {
  batch: t.String({ description: 'Group label; empty for none.' }),
  record_id: nullable(t.String({ format: 'uuid', description: 'The linked record.' })),
}

const parcel = {
  queue: '01a19d02-5c1f-7f0e-8a43-92b7e0a4c1d7',
  id: '01a1a4c8-11a9-7b32-a6de-3f0c58b1d2e4',
  key: 'P-1001',
}
const truck = { batch: 'truck 7', record_id: null }

const types: readonly EventType[] = [
  {
    ...common,
    type: 'queues.item.added',
    description: 'An item was added. One that is added to a terminal stage is closed next.',
    data: t.Object({ stage, status, priority: t.Integer(), source: t.Enum([...itemSources]), ...ofItem }, { title: 'QueueItemAdded' }),
    example: { subject: parcel, data: { stage: 'expected', status: 'open', priority: 0, source: 'import', ...truck } },
  },
  {
    ...common,
    type: 'queues.item.moved',
    description: 'An item was moved. A move that closes it is followed by `queues.item.closed`.',
    data: t.Object({ from_stage: stage, to_stage: stage, status, ...ofItem }, { title: 'QueueItemMoved' }),
    example: { subject: parcel, data: { from_stage: 'expected', to_stage: 'checked', status: 'open', ...truck } },
  },
  {
    ...common,
    type: 'queues.item.claimed',
    description: 'An item was claimed.',
    data: t.Object(
      {
        stage,
        claimed_by: uuid,
        claim_expires_at: instant,
        attempts: t.Integer({ description: 'Claims of the item so far.' }),
        ...ofItem,
      },
      { title: 'QueueItemClaimed' },
    ),
    example: {
      subject: parcel,
      data: {
        stage: 'expected',
        claimed_by: '01a19bc1-0f23-7b54-9ed6-6d22568f7c36',
        claim_expires_at: '2026-11-21T11:07:48.900000Z',
        attempts: 1,
        ...truck,
      },
    },
  },
  {
    ...common,
    type: 'queues.item.closed',
    description: 'An item is open no more: it was done, failed, was cancelled, or was deleted while it was open.',
    data: t.Object({ stage, status: t.Enum([...closedStatuses]), ...ofItem }, { title: 'QueueItemClosed' }),
    example: { subject: parcel, data: { stage: 'stored', status: 'done', ...truck } },
  },
]

export const itemEvents: EventFamily = { app: 'queues', types, prepare: prepareItemEvents }
