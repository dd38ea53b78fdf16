import { whenInReach } from '#shared/db/in-reach.ts'
import { requireFunction } from '#shared/functions/functions.ts'
import type { Invocation } from '#shared/functions/invocation.ts'
import { invokeFunction, type RunPayload, runFunction } from '#shared/functions/jobs.ts'
import { recordRun } from '#shared/functions/runs.ts'
import type { JobDefinition } from '#shared/queue/job.ts'
import { interrupted } from '#workers/functions/ended.ts'
import { runOrder } from '#workers/functions/run.ts'
import { type Handler, handler } from '#workers/handler.ts'

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
