import { defineTrigger, textSetting } from '#shared/core/automation/block.ts'
import { filterProblems, filterSetting, watchedFieldProblems } from '#shared/core/records/blocks/tested-fields.ts'
import { changeEvents } from '#shared/platform/events/event-delivery.ts'
import { t } from '#shared/platform/kernel/schema.ts'

export const recordEventTrigger = defineTrigger({
  type: 'trigger.record_event',
  kind: 'record_event',
  label: 'Record changes',
  description: 'Runs when a record of a type is created, updated or deleted.',
  settings: {
    object_type: textSetting('Key of the record type.'),
    event: textSetting(`One of ${changeEvents.join(', ')}.`),
    fields: t.Optional(
      t.Array(t.String(), {
        description: 'For updated: keys of fields, one of which must have changed; without any, every change counts.',
      }),
    ),
    filter: filterSetting('A filter of a list, which the record must match as the change left it, a deleted one as it was.'),
  },
  required: ['object_type', 'event'],
  problems: (config, known) => {
    const { object_type, event } = config
    return [
      ...(object_type === undefined || known.fieldKeys.has(object_type as string) ? [] : ['object_type must be the key of a record type']),
      ...(event === undefined || changeEvents.some((name) => name === event) ? [] : [`event must be one of ${changeEvents.join(', ')}`]),
      ...watchedFieldProblems(config, known),
      ...filterProblems(config, known),
    ]
  },
  sample: {
    event: 'updated',
    record_id: '01a1fbc8-8645-7571-bf7a-d5998224cc5c',
    record: { name: 'Text', amount: { amount: 12.5, code: 'EUR' } },
    before: { name: 'Earlier text', amount: { amount: 12.5, code: 'EUR' } },
    changed: ['name'],
  },
})
