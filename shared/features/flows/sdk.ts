import { defineSdkMethod, type SdkMethod } from '#shared/core/automation/sdk-method.ts'
import { requirePermission } from '#shared/core/scope/access.ts'
import { requireFlow } from '#shared/features/flows/definitions/flows.ts'
import { runFlow } from '#shared/features/flows/runs/start.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

/** SDK methods that start flows. The chain of automations of the new run is one longer than that of the function's run. */
export const flowMethods: readonly SdkMethod[] = [
  defineSdkMethod(
    'flows.run',
    '(id: string, input?: unknown): Promise<{ queued: boolean; run_id: string }>',
    [
      ['id', schema(t.String())],
      ['input', schema(t.Unknown())],
    ],
    async ({ scope }, id, input) => {
      const { id: flowId } = await requireFlow(scope, id)
      requirePermission(scope, 'flows:run', flowId)
      return runFlow(scope, flowId, input)
    },
  ),
]
