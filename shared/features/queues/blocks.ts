import { defineBlock, number, numberIn, text, texts } from '#shared/core/automation/block.ts'
import { blankProblems, unknownName } from '#shared/core/automation/setting-problems.ts'
import { filledIn, isObject, textOf } from '#shared/core/automation/template.ts'
import { requirePermission } from '#shared/core/scope/access.ts'
import { requireQueueByKey } from '#shared/features/queues/definitions/load.ts'
import { enqueueItems } from '#shared/features/queues/items/add.ts'
import { newItems } from '#shared/features/queues/items/schemas.ts'
import { nullable, t } from '#shared/platform/kernel/schema.ts'

export const enqueueItemBlock = defineBlock({
  type: 'action.enqueue_item',
  label: 'Add to a work queue',
  description: 'Adds an item to a work queue; a key that is open there already is a duplicate.',
  settings: {
    queue_key: text('Key of the queue.'),
    key: text('What identifies the item.'),
    stage: text('Key of the stage; the start when blank.'),
    batch: text('Group label.'),
    priority: number('Higher goes first.'),
    record_id: text('The record that it is about.'),
    assignee_id: text('Who is to do it.'),
    payload: texts('What goes along with it.'),
  },
  required: ['queue_key', 'key'],
  problems: (config, { queueKeys }) => [
    ...unknownName('queue_key', config.queue_key, queueKeys, 'the key of a queue'),
    ...blankProblems(config, ['record_id']),
  ],
  handles: ['out'],
  output: { id: nullable(t.String({ description: 'null of a duplicate that is hidden from the editor.' })), duplicate: t.Boolean() },
  shown: 'readers',
  app: 'queues',
  work: {
    acts: async ({ settings: { queue_key, priority, payload, ...texts } }, scope) => {
      const queueKey = textOf(queue_key).trim()
      await requireQueueByKey(scope, queueKey)
      requirePermission(scope, 'queues:enqueue', queueKey)
      const level = numberIn(priority, 'priority')
      const item = { ...filledIn(texts), ...(level === undefined ? {} : { priority: level }), ...(isObject(payload) ? { payload } : {}) }
      const { items } = await enqueueItems(scope, queueKey, newItems.parse([item], 'items'))
      const [added] = items
      return { id: added?.id ?? null, duplicate: added?.duplicate === true }
    },
  },
})
