import { defineBlock, listSetting } from '#shared/core/automation/block.ts'
import { listProblems, readListItems } from '#shared/core/automation/items.ts'
import { t } from '#shared/platform/kernel/schema.ts'

export const forEachBlock = defineBlock({
  type: 'logic.for_each',
  label: 'For each',
  description: 'Runs the blocks after `loop` for each item of a list, one after the other, then continues with `done`.',
  settings: { list: listSetting('A reference to a list, or a JSON array, of up to 1,000 items.') },
  required: ['list'],
  problems: (config) => listProblems(config.list),
  handles: ['loop', 'done'],
  output: { count: t.Integer() },
  shown: 'readers',
  app: null,
  work: { loops: ({ node: { config }, render }) => readListItems(render(config.list)) },
})
