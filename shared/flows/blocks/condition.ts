import { defineBlock } from '#shared/flows/block.ts'
import { clauseProblems, clauseSettings, holds } from '#shared/flows/clauses.ts'
import { t } from '#shared/kernel/schema.ts'

export const conditionBlock = defineBlock({
  type: 'logic.condition',
  label: 'Condition',
  description: 'Goes on one way when its tests hold, and another when they do not.',
  settings: clauseSettings,
  required: [],
  problems: clauseProblems,
  handles: ['true', 'false'],
  output: { result: t.Boolean() },
  shown: 'readers',
  app: null,
  work: {
    computes: async (step) => {
      const result = await holds(step.node.config, step)
      return { output: { result }, handle: String(result) }
    },
  },
})
