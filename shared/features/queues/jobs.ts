import { eventDelivery, visibleOfDelivery } from '#shared/platform/events/event-delivery.ts'
import { defineJob, retryPolicies } from '#shared/platform/jobs/job.ts'
import { nullable, schema, type TypeOf, t, uuid } from '#shared/platform/kernel/schema.ts'

const queueJob = { app: 'queues', pool: 'data' } as const

/** Jobs without a waiting caller. */
const backgroundJob = { ...queueJob, work: 'step', retry: retryPolicies.transient, result: schema(t.Null()) } as const

/** Jobs that a caller waits for. They are not retried. */
const requestJob = { ...queueJob, work: 'request', retry: retryPolicies.once, tracked: true } as const

/** Runs a stage's on_enter function or flow for each item that entered it. */
export const runOnEnterJob = defineJob({
  ...backgroundJob,
  name: 'queues.entered',
  visible: ['queueId', 'entries'],
  concurrency: 20,
  slotsPerWorkspace: 10,
  timeoutSeconds: 120,
  tracked: true,
  payload: schema(
    t.Object({
      queueId: uuid,
      entries: t.Array(t.Object({ itemId: uuid, from: nullable(t.String()), to: t.String() }), { minItems: 1 }),
    }),
  ),
})

/** Adds and cancels items after record changes. */
export const intakeRecordChangesJob = defineJob({
  ...backgroundJob,
  name: 'queues.intake',
  visible: visibleOfDelivery,
  concurrency: 40,
  slotsPerWorkspace: 10,
  timeoutSeconds: 300,
  tracked: false,
  payload: eventDelivery,
})

const buttonResult = t.Object(
  { item_id: t.String(), ok: t.Boolean(), error: t.Optional(t.String({ description: 'Why the button failed for this item.' })) },
  { title: 'QueueButtonResult' },
)
const buttonResults = schema(t.Array(buttonResult))
export type ButtonResult = TypeOf<typeof buttonResults>[number]

const pressPayload = schema(t.Object({ queueId: uuid, stage: t.String(), buttonId: t.String(), itemIds: t.Array(t.String()) }))
export type PressPayload = TypeOf<typeof pressPayload>

/** Runs a stage's button: its function once per item. */
export const pressButtonJob = defineJob({
  ...requestJob,
  name: 'queues.press',
  visible: ['queueId', 'stage', 'buttonId', 'itemIds'],
  concurrency: 20,
  slotsPerWorkspace: 10,
  timeoutSeconds: 120,
  payload: pressPayload,
  result: buttonResults,
})

/** A difference between a queue's history and its rows or counts. */
const difference = t.Object(
  {
    item_id: nullable(t.String({ format: 'uuid', description: 'null for a count of the queue.' })),
    field: t.String({ description: 'The differing field, such as stage; history when entries are missing or superfluous.' }),
    expected: t.Unknown({ description: 'The value according to the history.' }),
    found: t.Unknown({ description: 'The stored value.' }),
  },
  { title: 'QueueDifference' },
)
const queueVerification = schema(
  t.Object(
    {
      ok: t.Boolean(),
      added: t.Integer(),
      deleted: t.Integer(),
      open: t.Integer(),
      closed: t.Integer(),
      differences: t.Array(difference, { description: 'At most 1,000.' }),
    },
    { title: 'QueueVerification' },
  ),
)
export type QueueVerification = TypeOf<typeof queueVerification>
export type QueueDifference = QueueVerification['differences'][number]

/** Verifies every item of a queue by its history. */
export const verifyQueueJob = defineJob({
  ...requestJob,
  name: 'queues.verify',
  visible: ['queueId'],
  concurrency: 2,
  slotsPerWorkspace: 1,
  timeoutSeconds: 600,
  payload: schema(t.Object({ queueId: uuid })),
  result: queueVerification,
})

/** Deletes the items and history of a deleted queue. */
export const clearQueueJob = defineJob({
  ...backgroundJob,
  name: 'queues.clear',
  visible: ['workspaceId', 'queueId'],
  cancel: 'refused',
  work: 'upkeep',
  app: null,
  concurrency: 2,
  slotsPerWorkspace: 1,
  timeoutSeconds: 600,
  tracked: false,
  payload: schema(t.Object({ workspaceId: uuid, queueId: uuid })),
})
