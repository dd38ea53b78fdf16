import { defineBlock, text, texts } from '#shared/core/automation/block.ts'
import { unknownName } from '#shared/core/automation/setting-problems.ts'
import { textOf } from '#shared/core/automation/template.ts'
import { requirePermission } from '#shared/core/scope/access.ts'
import { requireEnabled, requireFunction } from '#shared/features/functions/definitions/functions.ts'
import { t } from '#shared/platform/kernel/schema.ts'

export const runFunctionBlock = defineBlock({
  type: 'action.run_function',
  label: 'Run a function',
  description: "Runs a function with no more rights than its author's and those of whoever last changed the flow.",
  settings: { function_id: text('Id of the function.'), input: texts('What its handler is called with: an object of these.') },
  required: ['function_id'],
  problems: ({ function_id }, { functionIds }) => unknownName('function_id', function_id, functionIds, 'a function'),
  handles: ['out'],
  output: { result: t.Unknown() },
  shown: 'editors',
  app: 'functions',
  work: {
    waits: async ({ settings }, scope) => {
      const { id } = await requireFunction(scope, textOf(settings.function_id).trim())
      requirePermission(scope, 'functions:invoke', id)
      await requireEnabled(scope, id)
      return { kind: 'function', functionId: id, input: JSON.stringify(settings.input ?? {}) }
    },
  },
})
