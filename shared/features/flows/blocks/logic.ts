import { defineBlock, listSetting } from '#shared/core/automation/block.ts'
import { clauseProblems, clauseSettings, evaluateClauses } from '#shared/core/automation/clauses.ts'
import { listProblems, readListItems } from '#shared/core/automation/items.ts'
import { t } from '#shared/platform/kernel/schema.ts'

export const conditionBlock = defineBlock({
  type: 'logic.condition',
  label: 'Condition',
  description: 'Continues on one branch when its tests hold, on the other when they do not.',
  settings: clauseSettings,
  required: [],
  problems: clauseProblems,
  handles: ['true', 'false'],
  output: { result: t.Boolean() },
  shown: 'readers',
  app: null,
  work: {
    computes: async (step) => {
      const result = await evaluateClauses(step.node.config, step)
      return { output: { result }, handle: String(result) }
    },
  },
})

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
