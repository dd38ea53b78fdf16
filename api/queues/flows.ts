import { problem } from '#shared/kernel/errors.ts'
import type { FlowCheck } from '#shared/queues/references.ts'

/** A stage that starts a flow names one; there are none. */
export const requireFlowToRun: FlowCheck = async (_scope, flowId, path) => {
  throw problem('VALIDATION_ERROR', `${path} must be the id of a flow, got ${flowId}`)
}
