import { setTimeout } from 'node:timers/promises'
import { isOutOfReach } from '#shared/db/conflicts.ts'
import { requireFunction } from '#shared/functions/functions.ts'
import type { Invocation } from '#shared/functions/invocation.ts'
import { invokeFunction, type RunPayload, runFunction } from '#shared/functions/jobs.ts'
import { recordRun } from '#shared/functions/runs.ts'
import type { JobDefinition } from '#shared/queue/job.ts'
import { interrupted } from '#workers/functions/ended.ts'
import { runOrder } from '#workers/functions/run.ts'
import { type Handler, handler } from '#workers/handler.ts'

/** How often a run's end is tried to be recorded while the database is away. */
const againMs = 200

/** Runs a function once: an attempt after one that had begun only says that the run was interrupted. */
const runs = (job: JobDefinition<RunPayload, Invocation>): Handler<RunPayload, Invocation> =>
  handler(job, async ({ payload, scope, jobId, signal, begun, resources, commit }) => {
    const { functionId, rights } = payload
    const order = { id: jobId, functionId, parentId: null, depth: 0, above: [], signal }
    const authors = rights === 'lesser' ? [] : null
    const { run, invocation } = begun
      ? interrupted(order, (await requireFunction(scope, functionId)).version)
      : await runOrder(scope, { ...order, inputText: payload.input, authors }, resources.functions)
    return whenInReach(signal, () =>
      commit(async (inside) => {
        await recordRun(inside, run)
        return { result: invocation }
      }),
    )
  })

/** A run cannot be done again, so what came of it outlasts a database that is away for a moment. */
async function whenInReach<T>(signal: AbortSignal, write: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await write()
    } catch (error) {
      if (!isOutOfReach(error) || signal.aborted) throw error
      await setTimeout(againMs)
    }
  }
}

export const invoke = runs(invokeFunction)
export const runAsPart = runs(runFunction)
