import { defineBlock, number, text, texts } from '#shared/flows/block.ts'
import { notAvailable } from '#shared/flows/blocks/not-available.ts'
import { t } from '#shared/kernel/schema.ts'

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
  handles: ['out'],
  output: { id: t.String(), duplicate: t.Boolean() },
  shown: 'readers',
  app: 'queues',
  work: notAvailable,
})
