import { changeNextMatching, type MatchingProgress, pickMatching, readMatchingChange } from '#shared/core/records/change/change-matching.ts'
import { changeMatchingJob } from '#shared/core/records/jobs.ts'
import { within } from '#shared/core/scope/scope.ts'
import { defineHandler } from '#workers/core/scope/handler.ts'
import { renewRights } from '#workers/core/workspaces/enter-workspace.ts'

/**
 * Picks the records once and keeps their ids in the checkpoint, so that another worker continues with the same ones. Each step commits with
 * its checkpoint.
 */
export default defineHandler(changeMatchingJob, async ({ payload, scope, signal, checkpoint, advance, commit }) => {
  const change = readMatchingChange(payload.typeKey, payload.filter, payload.values)
  let progress = checkpoint as MatchingProgress | undefined
  if (!progress) {
    progress = await pickMatching(scope, change)
    await advance({ done: 0, total: progress.total }, progress)
  }
  while (progress.left.length > 0) {
    signal.throwIfAborted()
    const before: MatchingProgress = progress
    // The whole work may take minutes, in which the caller may lose its rights.
    const current = await renewRights(scope)
    progress = await current.db.transaction(async (tx) => {
      const inside = within(current, tx)
      const next = await changeNextMatching(inside, change, before)
      await advance({ done: next.total - next.left.length, total: next.total }, next, inside)
      return next
    })
  }
  const { matched, changed, skipped } = progress
  return commit(async () => ({ result: { matched, changed, skipped } }))
})
