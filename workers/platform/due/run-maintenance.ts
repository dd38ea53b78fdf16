import { chores } from '#shared/chores.ts'
import { runMaintenance } from '#shared/platform/due/maintenance.ts'
import { definePlatformHandler } from '#workers/platform/jobs/handler.ts'

/** Runs a maintenance task. A failure is logged, and the task runs again at its next due time. */
export default definePlatformHandler(runMaintenance, async ({ payload, scope, signal }) => {
  const task = chores.find(({ name }) => name === payload.chore)
  await task?.run(scope, signal).catch((error: unknown) => {
    if (signal.aborted) throw error
    scope.log.error({ err: error, chore: payload.chore }, 'chore failed')
  })
  return { result: null }
})
