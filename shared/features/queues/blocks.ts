import { defineBlock, numberSetting, readIdSetting, readNumberSetting, textMapSetting, textSetting } from '#shared/core/automation/block.ts'
import { blankProblems, unknownNameProblems, valueProblems } from '#shared/core/automation/setting-problems.ts'
import { hasReference, readFilledTexts, toText } from '#shared/core/automation/template.ts'
import { requirePermission } from '#shared/core/scope/access.ts'
import { requireQueueByKey } from '#shared/features/queues/definitions/load.ts'
import { addItems } from '#shared/features/queues/items/add.ts'
import { newItems, priority as priorityRule } from '#shared/features/queues/items/schemas.ts'
import { nullable, schema, t } from '#shared/platform/kernel/schema.ts'
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
  problems: (config, { stageKeys }) => {
    const { queue_key, stage } = config
    const stages = hasReference(queue_key) ? undefined : stageKeys.get(toText(queue_key).trim())
    return [
      ...unknownNameProblems('queue_key', queue_key, stageKeys, 'the key of a queue'),
      ...(stages ? unknownNameProblems('stage', stage, stages, 'the key of a stage of the queue') : []),
      ...blankProblems(config, ['record_id', 'assignee_id']),
      ...valueProblems(config, { priority: readPriority, record_id: readIdSetting }),
    ]
  },
  handles: ['out'],
  output: { id: nullable(t.String({ description: 'null for a duplicate that is hidden from the editor.' })), duplicate: t.Boolean() },
  shown: 'readers',
  app: 'queues',
  work: {
    acts: async ({ settings: { queue_key, priority, payload, ...texts } }, scope) => {
      const queueKey = toText(queue_key).trim()
      const queue = await requireQueueByKey(scope, queueKey)
      requirePermission(scope, 'queues:enqueue', queueKey)
      const level = readPriority(priority, 'priority')
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

const priorityShape = schema(priorityRule)

/** Reads a priority; undefined when blank. Throws VALIDATION_ERROR naming the setting. */
function readPriority(value: unknown, name: string): number | undefined {
  const level = readNumberSetting(value, name)
  return level === undefined ? undefined : priorityShape.parse(level, name)
}
