import { setTimeout } from 'node:timers/promises'
import { computesUnique, recomputeAfter } from '#shared/core/records/compute/recompute.ts'
import type { Selection } from '#shared/core/records/compute/store.ts'
import { countRecords } from '#shared/core/records/create/counts-store.ts'
import { type Scope, within } from '#shared/core/scope/scope.ts'
import { clearStaleReads, findStaleFields, type StaleField } from '#shared/core/types/formulas/store.ts'
import { recomputeRecordsJob } from '#shared/core/types/jobs.ts'
import { type RecordType, requireRecordType } from '#shared/core/types/record-type.ts'
import { defineHandler } from '#workers/core/scope/handler.ts'

/** Checkpoint of a recompute. */
interface Progress {
  readonly done: number
  readonly total: number
  readonly selection: Selection
  /** Id of the last computed record; empty at the start. */
  readonly after: string
  /** The fields that are no longer stale when all records are computed. */
  readonly stale: readonly StaleField[]
}

// Writes with type metadata from before the formula are committed or refused before this job is enqueued, and every later write computes
// the formula itself (shared/core/types/tables/change-table.ts). So all records are correct once the last one is computed.
export default defineHandler(recomputeRecordsJob, async ({ payload: { typeKey }, scope, signal, checkpoint, advance, commit }) => {
  let progress = (checkpoint ?? (await initialProgress(scope, await requireRecordType(scope, typeKey)))) as Progress
  for (;;) {
    signal.throwIfAborted()
    const { done, total, selection, after } = progress
    const startedAt = performance.now()
    const type = await requireRecordType(scope, typeKey)
    const step = await scope.db.transaction(async (tx) => {
      const inside = within(scope, tx)
      const { count, last } = await recomputeAfter(inside, type, after, selection)
      const next = last === undefined ? startSecondRun(progress, computesUnique(type)) : { ...progress, after: last }
      if (next === undefined) return undefined
      const counted = selection === 'all' ? done + count : done
      const reached = { ...next, done: counted, total: Math.max(total, counted) }
      await advance({ done: reached.done, total: reached.total }, reached, inside)
      return reached
    })
    if (step === undefined)
      return commit(async (inside) => {
        await clearStaleReads(inside, typeKey, progress.stale)
        return { result: { records: progress.done } }
      })
    progress = step
    // This job is not urgent, so it leaves the database half of the time to other work: it pauses for as long as the step took.
    await setTimeout(performance.now() - startedAt, undefined, { signal })
  }
})

async function initialProgress(scope: Scope, { id, workspaceId }: RecordType): Promise<Progress> {
  const stale = await findStaleFields(scope, { id, workspaceId })
  // From here on the known type has the formulas that made these fields stale: one from before would leave their old results.
  await scope.cache.refresh()
  return { stale, done: 0, total: await countRecords(scope.db, scope.workspace.id, id), selection: 'all', after: '' }
}

/** A unique value that another record held may be free once that record is computed, so empty unique fields get a second run. */
const startSecondRun = (progress: Progress, hasUnique: boolean): Progress | undefined =>
  hasUnique && progress.selection === 'all' ? { ...progress, selection: 'empty', after: '' } : undefined
