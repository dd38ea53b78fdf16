import type { feature } from '#shared/features/flows/feature.ts'
import callOut from '#workers/features/flows/call-out.ts'
import continueRun from '#workers/features/flows/continue-run.ts'
import generateFlow from '#workers/features/flows/generate.ts'
import rehearseFlow from '#workers/features/flows/rehearse.ts'
import startRunsOnEvents from '#workers/features/flows/start-on-events.ts'
import startScheduledRun from '#workers/features/flows/start-on-schedule.ts'
import type { HandlersOf } from '#workers/platform/jobs/handler.ts'

export const handlers = {
  startRunsOnEvents,
  startScheduledRun,
  continueRun,
  callOut,
  rehearseFlow,
  generateFlow,
} satisfies HandlersOf<typeof feature.jobs>
