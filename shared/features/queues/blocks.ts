import { defineBlock, numberSetting, readNumberSetting, textMapSetting, textSetting } from '#shared/core/automation/block.ts'
import { blankProblems, unknownNameProblems } from '#shared/core/automation/setting-problems.ts'
import { readFilledTexts, toText } from '#shared/core/automation/template.ts'
import { requirePermission } from '#shared/core/scope/access.ts'
import { requireQueueByKey } from '#shared/features/queues/definitions/load.ts'
import { addItems } from '#shared/features/queues/items/add.ts'
import { newItems } from '#shared/features/queues/items/schemas.ts'
import { nullable, t } from '#shared/platform/kernel/schema.ts'
import { hasParts } from '#shared/platform/kernel/values/json-walk.ts'

export const enqueueItemBlock = defineBlock({
  type: 'action.enqueue_item',
  label: 'Add to a work queue',
  description: 'Adds an item to a work queue; a key that is already open there is a duplicate.',
  settings: {
    queue_key: textSetting('Key of the queue.'),
    key: textSetting('Key that identifies the item.'),
    stage: textSetting('Key of the stage; the start stage when blank.'),
    batch: textSetting('Group label.'),
    priority: numberSetting('Higher goes first.'),
    record_id: textSetting('Id of the linked record.'),
    assignee_id: textSetting('Id of the assignee.'),
    payload: textMapSetting('Data stored with the item.'),
  },
  required: ['queue_key', 'key'],
  problems: (config, { queueKeys }) => [
    ...unknownNameProblems('queue_key', config.queue_key, queueKeys, 'the key of a queue'),
    ...blankProblems(config, ['record_id']),
  ],
  handles: ['out'],
  output: { id: nullable(t.String({ description: 'null for a duplicate that is hidden from the editor.' })), duplicate: t.Boolean() },
  shown: 'readers',
  app: 'queues',
  work: {
    acts: async ({ settings: { queue_key, priority, payload, ...texts } }, scope) => {
      const queueKey = toText(queue_key).trim()
      const queue = await requireQueueByKey(scope, queueKey)
      requirePermission(scope, 'queues:enqueue', queueKey)
      const level = readNumberSetting(priority, 'priority')
      const item = {
        ...readFilledTexts(texts),
        ...(level === undefined ? {} : { priority: level }),
        ...(hasParts(payload) ? { payload } : {}),
      }
      const { items } = await addItems(scope, queue, newItems.parse([item], 'items'), { source: 'function' })
      const [added] = items
      return { id: added?.id ?? null, duplicate: added?.duplicate === true }
    },
  },
})
