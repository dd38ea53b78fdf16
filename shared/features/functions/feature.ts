import type { Feature } from '#shared/core/automation/feature.ts'
import { functionEvents } from '#shared/features/functions/events.ts'
import { invokeFunctionJob, runFunctionJob, saveFunctionJob } from '#shared/features/functions/jobs.ts'
import { functionMaintenance } from '#shared/features/functions/maintenance.ts'
import { functionMethods } from '#shared/features/functions/sdk.ts'
import { secretValues } from '#shared/features/functions/secrets/store.ts'

export const feature = {
  jobs: { saveFunction: saveFunctionJob, invokeFunction: invokeFunctionJob, runFunction: runFunctionJob },
  maintenance: functionMaintenance,
  events: [functionEvents],
  sdkMethods: functionMethods,
  sealed: [secretValues],
} satisfies Feature
