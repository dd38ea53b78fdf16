import type { Invocation } from '#shared/core/automation/schemas.ts'
import { requireFunction } from '#shared/features/functions/definitions/functions.ts'
import type { FunctionRunPayload } from '#shared/features/functions/jobs.ts'
import { saveFunctionRun } from '#shared/features/functions/runs/runs.ts'
import { retryUntilAvailable } from '#shared/platform/db/retry-until-available.ts'
import type { JobDefinition } from '#shared/platform/jobs/job.ts'
import { defineHandler } from '#workers/core/scope/handler.ts'
import { executeFunction } from '#workers/features/functions/execute.ts'
import type { FunctionRunners } from '#workers/features/functions/function-runners.ts'
import { interruptedRunResult } from '#workers/features/functions/run-result.ts'

/**
 * Creates the handler of a job that runs a function at most once: if an earlier attempt began the run, this attempt only records that it
 * was interrupted.
 */
export const createRunHandler = (job: JobDefinition<FunctionRunPayload, Invocation>, runners: FunctionRunners) =>
  defineHandler(job, async ({ payload, scope, jobId, signal, begun, commit }) => {
    const { functionId, rights } = payload
    const order = { id: jobId, functionId, parentId: null, depth: 0, above: [], signal }
    const authorship = { authors: [], isLesser: rights === 'lesser' }
    const { run, invocation } = begun
      ? interruptedRunResult(order, (await requireFunction(scope, functionId)).version)
      : await executeFunction(scope, { ...order, inputText: payload.input, authorship }, runners)
    // A run cannot be repeated, so its result is held in memory until the database can store it.
    return retryUntilAvailable(signal, () =>
      commit(async (inside) => {
        await saveFunctionRun(inside, run)
        return { result: invocation }
      }),
    )
  })
