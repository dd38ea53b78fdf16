import { defineBlock, text, texts } from '#shared/flows/block.ts'
import { unknownName } from '#shared/flows/references.ts'
import { textOf } from '#shared/flows/template.ts'
import { requireEnabled, requireFunction } from '#shared/functions/functions.ts'
import { t } from '#shared/kernel/schema.ts'
import { requirePermission } from '#shared/scope/access.ts'

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
