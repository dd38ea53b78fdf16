import { requirePermission } from '#shared/core/scope/access.ts'
import { requireFlowId } from '#shared/features/flows/definitions/flows.ts'
import type { FlowCheck } from '#shared/features/queues/definitions/references.ts'
import { Problem, problem } from '#shared/platform/kernel/errors.ts'

/** Throws VALIDATION_ERROR naming `path` for an unknown flow, FORBIDDEN when the caller may not start it. */
export const requireFlowToRun: FlowCheck = async (scope, flowId, path) => {
  const { id } = await requireFlowId(scope, flowId).catch((error: unknown) => {
    if (error instanceof Problem && error.code === 'NOT_FOUND')
      throw problem('VALIDATION_ERROR', `${path} must be the id of a flow, got ${flowId}`)
    throw error
  })
  requirePermission(scope, 'flows:run', id)
}
