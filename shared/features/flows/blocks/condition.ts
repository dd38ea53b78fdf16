import { defineBlock } from '#shared/core/automation/block.ts'
import { clauseProblems, clauseSettings, evaluateClauses } from '#shared/core/automation/clauses.ts'
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
