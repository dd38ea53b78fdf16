import type { feature } from '#shared/features/functions/feature.ts'
import { invokeFunctionJob, runFunctionJob } from '#shared/features/functions/jobs.ts'
import type { FunctionRunners } from '#workers/features/functions/function-runners.ts'
import { createRunHandler } from '#workers/features/functions/invoke.ts'
import { createSaveHandler } from '#workers/features/functions/save.ts'
import type { HandlersOf } from '#workers/platform/jobs/handler.ts'

export const createHandlers = (runners: FunctionRunners) =>
  ({
    saveFunction: createSaveHandler(runners),
    invokeFunction: createRunHandler(invokeFunctionJob, runners),
    runFunction: createRunHandler(runFunctionJob, runners),
  }) satisfies HandlersOf<typeof feature.jobs>
