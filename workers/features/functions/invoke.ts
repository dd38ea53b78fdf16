import type { Invocation } from '#shared/core/automation/invocation.ts'
import { requireFunction } from '#shared/features/functions/definitions/functions.ts'
import { type FunctionRunPayload, invokeFunctionJob, runFunctionJob } from '#shared/features/functions/jobs.ts'
import { saveFunctionRun } from '#shared/features/functions/runs/runs.ts'
import { retryUntilAvailable } from '#shared/platform/db/retry-until-available.ts'
import type { JobDefinition } from '#shared/platform/jobs/job.ts'
import { executeFunction } from '#workers/features/functions/execute.ts'
import { interruptedRunResult } from '#workers/features/functions/run-result.ts'
import { defineHandler, type Handler } from '#workers/platform/jobs/handler.ts'

/** Runs a function at most once: an attempt after a started one only records that the run was interrupted. */
const runs = (job: JobDefinition<FunctionRunPayload, Invocation>): Handler<FunctionRunPayload, Invocation> =>
  defineHandler(job, async ({ payload, scope, jobId, signal, begun, resources, commit }) => {
    const { functionId, rights } = payload
    const order = { id: jobId, functionId, parentId: null, depth: 0, above: [], signal }
    const authorship = { authors: [], isLesser: rights === 'lesser' }
    const { run, invocation } = begun
      ? interruptedRunResult(order, (await requireFunction(scope, functionId)).version)
      : await executeFunction(scope, { ...order, inputText: payload.input, authorship }, resources.functions)
    // A run cannot be repeated, so its result is kept until the database is available.
    return retryUntilAvailable(signal, () =>
      commit(async (inside) => {
        await saveFunctionRun(inside, run)
        return { result: invocation }
      }),
    )
  })

export const handleInvokeFunction = runs(invokeFunctionJob)
export const handleRunFunction = runs(runFunctionJob)
