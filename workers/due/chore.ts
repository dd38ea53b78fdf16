import { chores } from '#shared/chores.ts'
import { doChore } from '#shared/due/chores.ts'
import { platformHandler } from '#workers/handler.ts'

/** What fails is told, and done again when it falls due the next time. */
export default platformHandler(doChore, async ({ payload, scope, signal }) => {
  const chore = chores.find(({ name }) => name === payload.chore)
  await chore?.run(scope, signal).catch((error: unknown) => {
    if (signal.aborted) throw error
    scope.log.error({ err: error, chore: payload.chore }, 'chore failed')
  })
  return { result: null }
})
