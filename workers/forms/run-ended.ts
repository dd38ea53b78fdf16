import { noteRunEnded } from '#shared/forms/follow.ts'
import { runEnded } from '#shared/forms/jobs.ts'
import { platformHandler } from '#workers/handler.ts'

export default platformHandler(runEnded, async ({ payload, scope }) => {
  await noteRunEnded(scope, payload)
  return { result: null }
})
