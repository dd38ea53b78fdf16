import { chores } from '#shared/chores.ts'
import { doChore } from '#shared/platform/due/maintenance.ts'
import { platformHandler } from '#workers/platform/jobs/handler.ts'

/** Runs a maintenance task. A failure is logged, and the task runs again at its next due time. */
export default platformHandler(doChore, async ({ payload, scope, signal }) => {
  const task = chores.find(({ name }) => name === payload.chore)
  await task?.run(scope, signal).catch((error: unknown) => {
    if (signal.aborted) throw error
    scope.log.error({ err: error, chore: payload.chore }, 'chore failed')
  })
  return { result: null }
})
