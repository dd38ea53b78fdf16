import { queueName, queueSummary } from '#shared/features/queues/definitions/schemas.ts'
import { schema, type TypeOf, t } from '#shared/platform/kernel/schema.ts'

/** A queue's counts (docs/contract/queues.md#counts). */
export const summaryAnswer = schema(t.Object({ queue: queueName, summary: queueSummary }, { title: 'QueueReport' }))

const batchCounts = t.Object({ batch: t.String(), total: t.Integer(), open: t.Integer(), closed: t.Integer() }, { title: 'QueueBatch' })
export const batchList = schema(t.Array(batchCounts))
export type BatchCounts = TypeOf<typeof batchList>[number]
