import { requireFlow } from '#shared/flows/flows.ts'
import { runFlow } from '#shared/flows/start.ts'
import { type SdkMethod, sdkMethod } from '#shared/functions/sdk/method.ts'
import { schema, t } from '#shared/kernel/schema.ts'
import { requirePermission } from '#shared/scope/access.ts'

/** Flows that functions start; the chain of flows becomes one longer when a flow runs the function. */
export const flowMethods: readonly SdkMethod[] = [
  sdkMethod(
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
