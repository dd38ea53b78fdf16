import { defineBlock, textMapSetting, textSetting } from '#shared/core/automation/block.ts'
import { unknownNameProblems } from '#shared/core/automation/setting-problems.ts'
import { toText } from '#shared/core/automation/template.ts'
import { requirePermission } from '#shared/core/scope/access.ts'
import { requireEnabledFunction, requireFunction } from '#shared/features/functions/definitions/functions.ts'
import { t } from '#shared/platform/kernel/schema.ts'

export const runFunctionBlock = defineBlock({
  type: 'action.run_function',
  label: 'Run a function',
  description: "Runs a function with the rights that both its author and the flow's last editor have.",
  settings: {
    function_id: textSetting('Id of the function.'),
    input: textMapSetting('Object that its handler receives.'),
  },
  required: ['function_id'],
  problems: ({ function_id }, { functionIds }) => unknownNameProblems('function_id', function_id, functionIds, 'a function'),
  handles: ['out'],
  output: { result: t.Unknown() },
  shown: 'editors',
  app: 'functions',
  work: {
    waits: async ({ settings }, scope) => {
      const { id } = await requireFunction(scope, toText(settings.function_id).trim())
      requirePermission(scope, 'functions:invoke', id)
      await requireEnabledFunction(scope, id)
      return { kind: 'function', functionId: id, input: JSON.stringify(settings.input ?? {}) }
    },
  },
})
