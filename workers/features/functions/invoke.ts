import type { Invocation } from '#shared/core/automation/invocation.ts'
import { requireFunction } from '#shared/features/functions/definitions/functions.ts'
import { invokeFunction, type RunPayload, runFunction } from '#shared/features/functions/jobs.ts'
import { recordRun } from '#shared/features/functions/runs/runs.ts'
import { whenInReach } from '#shared/platform/db/retry-until-available.ts'
import type { JobDefinition } from '#shared/platform/jobs/job.ts'
import { runOrder } from '#workers/features/functions/execute.ts'
import { interrupted } from '#workers/features/functions/run-result.ts'
import { type Handler, handler } from '#workers/platform/jobs/handler.ts'

/** Runs a function once: an attempt after one that had begun only says that the run was interrupted. */
const runs = (job: JobDefinition<RunPayload, Invocation>): Handler<RunPayload, Invocation> =>
  handler(job, async ({ payload, scope, jobId, signal, begun, resources, commit }) => {
    const { functionId, rights } = payload
    const order = { id: jobId, functionId, parentId: null, depth: 0, above: [], signal }
    const authorship = { authors: [], isLesser: rights === 'lesser' }
    const { run, invocation } = begun
      ? interrupted(order, (await requireFunction(scope, functionId)).version)
      : await runOrder(scope, { ...order, inputText: payload.input, authorship }, resources.functions)
    // A run cannot be done again, so what came of it outlasts a database that is away for a moment.
    return whenInReach(signal, () =>
      commit(async (inside) => {
        await recordRun(inside, run)
        return { result: invocation }
      }),
    )
  })

export const invoke = runs(invokeFunction)
export const runAsPart = runs(runFunction)
