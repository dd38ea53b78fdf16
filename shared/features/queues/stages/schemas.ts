import { queueLimits } from '#shared/features/queues/limits.ts'
import { schema, t, uuid } from '#shared/platform/kernel/schema.ts'

/** Body that presses a stage's button (docs/contract/queues.md#buttons). */
export const actionInput = schema(
  t.Object(
    {
      button_id: t.String(),
      item_ids: t.Array(uuid, { minItems: 1, maxItems: queueLimits.actionItems }),
    },
    { title: 'QueueAction' },
  ),
)
