import { defineTrigger, textSetting } from '#shared/core/automation/block.ts'
import { toText } from '#shared/core/automation/template.ts'
import { cronProblem, zoneProblem } from '#shared/features/flows/triggers/cron.ts'

export const manualTrigger = defineTrigger({
  type: 'trigger.manual',
  kind: 'manual',
  label: 'By hand',
  description: 'Runs when it is started by the API or by a function.',
  settings: {},
  required: [],
  sample: { input: { any: 'JSON' } },
})

export const scheduleTrigger = defineTrigger({
  type: 'trigger.schedule',
  kind: 'schedule',
  label: 'Schedule',
  description: 'Runs at the times of a cron expression.',
  settings: {
    cron: textSetting('Five fields: minute, hour, day of month, month, day of week.'),
    timezone: textSetting('IANA name of the time zone in which cron is read; UTC when blank.'),
  },
  required: ['cron'],
  problems: ({ cron, timezone }) =>
    [
      cron === undefined ? undefined : cronProblem(toText(cron)),
      // Blank text means UTC.
      timezone === undefined || toText(timezone).trim() === '' ? undefined : zoneProblem(toText(timezone)),
    ].filter((problem) => problem !== undefined),
  sample: { event: '2026-11-21T09:00:00.000000Z' },
})
