import { eventDelivery } from '#shared/platform/events/event-delivery.ts'
import { defineJob, retryPolicies } from '#shared/platform/jobs/job.ts'
import { nullable, schema, type TypeOf, t } from '#shared/platform/kernel/schema.ts'

const uuid = t.String({ format: 'uuid' })

/** Runs what a stage has for items that entered it, a function or a flow for each. */
export const runOnEnter = defineJob({
  name: 'queues.entered',
  kind: 'queues.entered',
  work: 'step',
  app: 'queues',
  pool: 'data',
  concurrency: 20,
  slotsPerWorkspace: 10,
  retry: retryPolicies.transient,
  timeoutSeconds: 120,
  tracked: true,
  payload: schema(
    t.Object({
      queueId: uuid,
      entries: t.Array(t.Object({ itemId: uuid, from: nullable(t.String()), to: t.String() }), { minItems: 1 }),
    }),
  ),
  result: schema(t.Null()),
})

/** Adds and cancels items as changes of records ask for it. */
export const intakeRecordChanges = defineJob({
  name: 'queues.intake',
  kind: 'queues.intake',
  work: 'step',
  app: 'queues',
  pool: 'data',
  concurrency: 40,
  slotsPerWorkspace: 10,
  retry: retryPolicies.transient,
  timeoutSeconds: 300,
  tracked: false,
  payload: eventDelivery,
  result: schema(t.Null()),
})

const buttonResult = t.Object(
  { item_id: t.String(), ok: t.Boolean(), error: t.Optional(t.String({ description: 'Why not.' })) },
  { title: 'QueueButtonResult' },
)
export const buttonResults = schema(t.Array(buttonResult))
export type ButtonResult = TypeOf<typeof buttonResults>[number]

const pressPayload = schema(t.Object({ queueId: uuid, stage: t.String(), buttonId: t.String(), itemIds: t.Array(t.String()) }))
export type PressPayload = TypeOf<typeof pressPayload>

/** Runs a stage's button for items, its function once for each. */
export const pressButton = defineJob({
  name: 'queues.press',
  kind: 'queues.press',
  work: 'request',
  app: 'queues',
  pool: 'data',
  concurrency: 20,
  slotsPerWorkspace: 10,
  retry: retryPolicies.once,
  timeoutSeconds: 120,
  tracked: true,
  payload: pressPayload,
  result: buttonResults,
})

/** What a queue's history says that its rows do not. */
const difference = t.Object(
  {
    item_id: nullable(t.String({ format: 'uuid', description: 'null for a count of the queue.' })),
    field: t.String({ description: 'What differs, such as stage; history where entries are missing or too many.' }),
    expected: t.Unknown({ description: 'What the history makes of it.' }),
    found: t.Unknown({ description: 'What the row says.' }),
  },
  { title: 'QueueDifference' },
)
export const queueVerification = schema(
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

/** Replays the history of every item of a queue against its row. */
export const verifyQueue = defineJob({
  name: 'queues.verify',
  kind: 'queues.verify',
  work: 'request',
  app: 'queues',
  pool: 'data',
  concurrency: 2,
  slotsPerWorkspace: 1,
  retry: retryPolicies.once,
  timeoutSeconds: 600,
  tracked: true,
  payload: schema(t.Object({ queueId: uuid })),
  result: queueVerification,
})

/** Takes away what a deleted queue has left. */
export const clearQueue = defineJob({
  name: 'queues.clear',
  kind: 'queues.clear',
  work: 'upkeep',
  app: null,
  pool: 'data',
  concurrency: 2,
  slotsPerWorkspace: 1,
  retry: retryPolicies.transient,
  timeoutSeconds: 600,
  tracked: false,
  payload: schema(t.Object({ workspaceId: uuid, queueId: uuid })),
  result: schema(t.Null()),
})

export const queueJobs = [runOnEnter, intakeRecordChanges, pressButton, verifyQueue, clearQueue] as const
