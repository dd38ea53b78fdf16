import { defineTrigger } from '#shared/core/automation/block.ts'

export const manualTrigger = defineTrigger({
  type: 'trigger.manual',
  kind: 'manual',
  label: 'By hand',
  description: 'Runs when somebody runs it, by the API or from a function.',
  settings: {},
  required: [],
  sample: { input: { any: 'JSON' } },
})
