import { defineTrigger, textSetting } from '#shared/core/automation/block.ts'
import { changeEvents } from '#shared/platform/events/event-delivery.ts'

export const recordEventTrigger = defineTrigger({
  type: 'trigger.record_event',
  kind: 'record_event',
  label: 'Record changes',
  description: 'Runs when a record of a type is created, updated or deleted.',
  settings: { object_type: textSetting('Key of the record type.'), event: textSetting(`One of ${changeEvents.join(', ')}.`) },
  required: ['object_type', 'event'],
  problems: ({ object_type, event }, { fieldKeys }) => [
    ...(object_type === undefined || fieldKeys.has(object_type as string) ? [] : ['object_type must be the key of a record type']),
    ...(event === undefined || changeEvents.some((known) => known === event) ? [] : [`event must be one of ${changeEvents.join(', ')}`]),
  ],
  sample: {
    event: 'created',
    record_id: '01a1fbc8-8645-7571-bf7a-d5998224cc5c',
    record: { name: 'Text', amount: { amount: 12.5, code: 'EUR' } },
  },
})
