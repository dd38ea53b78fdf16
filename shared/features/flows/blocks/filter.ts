import { defineBlock, listSetting } from '#shared/core/automation/block.ts'
import { clauseProblems, clauseSettings, evaluateClauses } from '#shared/core/automation/clauses.ts'
import { listProblems, readListItems } from '#shared/core/automation/items.ts'
import { t } from '#shared/platform/kernel/schema.ts'

export const filterBlock = defineBlock({
  type: 'logic.filter',
  label: 'Filter',
  description: 'Keeps the items of a list for which its tests hold; {{item}} is the item.',
  settings: { list: listSetting('A reference to a list, or a JSON array.'), ...clauseSettings },
  required: ['list'],
  problems: (config) => [...listProblems(config.list), ...clauseProblems(config)],
  handles: ['out'],
  output: { items: t.Array(t.Unknown()), count: t.Integer() },
  shown: 'editors',
  app: null,
  work: {
    computes: async (step) => {
      const { config } = step.node
      const items: unknown[] = []
      for (const [index, item] of readListItems(step.render(config.list)).entries()) {
        step.budget.takeSteps(1)
        if (await evaluateClauses(config, step, { item, index })) items.push(item)
      }
      return { output: { items, count: items.length } }
    },
  },
})
