import { defineTrigger } from '#shared/core/automation/block.ts'

export const manualTrigger = defineTrigger({
  type: 'trigger.manual',
  kind: 'manual',
  label: 'By hand',
  description: 'Runs when it is started by the API or by a function.',
  settings: {},
  required: [],
  sample: { input: { any: 'JSON' } },
})
