import { defineTrigger, text } from '#shared/flows/block.ts'
import { isCron } from '#shared/flows/cron.ts'

export const scheduleTrigger = defineTrigger({
  type: 'trigger.schedule',
  kind: 'schedule',
  label: 'Schedule',
  description: 'Runs at the times that a cron expression tells, in UTC.',
  settings: { cron: text('Five fields: minute, hour, day of month, month, day of week.') },
  required: ['cron'],
  problems: ({ cron }) =>
    cron === undefined || isCron(cron as string)
      ? []
      : ['cron must be a cron expression with five fields that falls on some day, such as 0 9 * * mon-fri'],
  sample: { event: '2026-11-21T09:00:00.000000Z' },
})
