import { setTimeout } from 'node:timers/promises'
import { withRecordType } from '#shared/core/records/access.ts'
import { computesUnique, recomputeAfter } from '#shared/core/records/compute/recompute.ts'
import type { Selection } from '#shared/core/records/compute/store.ts'
import { countRecords } from '#shared/core/records/create/counts-store.ts'
import { type Scope, within } from '#shared/core/scope/scope.ts'
import { clearStaleReads, findStaleFields, type StaleField } from '#shared/core/types/formulas/stale-reads.ts'
import { recomputeRecordsJob } from '#shared/core/types/jobs.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { defineHandler } from '#workers/platform/jobs/handler.ts'

/** How far a recompute has come. */
interface Progress {
  readonly done: number
  readonly total: number
  readonly selection: Selection
  /** The last record that was computed; empty at the start. */
  readonly after: string
  /** The fields that are fresh once all were. */
  readonly stale: readonly StaleField[]
}

// Whatever was being written from a picture without the formula is committed, or was refused, before this job is enqueued, and every write
// since computes by itself (shared/core/types/tables/edition.ts): once the last record was looked at, all are right.
export default defineHandler(recomputeRecordsJob, async ({ payload: { typeKey }, scope, signal, checkpoint, advance, commit }) => {
  let progress = (checkpoint ?? (await withRecordType(scope, typeKey, (type) => startOf(scope, type)))) as Progress
  for (;;) {
    signal.throwIfAborted()
    const { done, total, selection, after } = progress
    const began = performance.now()
    const step = await withRecordType(scope, typeKey, (type) =>
      scope.db.transaction(async (tx) => {
        const inside = within(scope, tx)
        const { count, last } = await recomputeAfter(inside, type, after, selection)
        const next = last === undefined ? secondRun(progress, computesUnique(type)) : { ...progress, after: last }
        if (next === undefined) return undefined
        const counted = selection === 'all' ? done + count : done
        const reached = { ...next, done: counted, total: Math.max(total, counted) }
        await advance({ done: reached.done, total: reached.total }, reached, inside)
        return reached
      }),
    )
    if (step === undefined)
      return commit(async (inside) => {
        await clearStaleReads(inside, scope.workspace.id, progress.stale)
        return { result: { records: progress.done } }
      })
    progress = step
    // Somebody waits for what else the database has to do, and nobody for this: it rests for as long as it worked.
    await setTimeout(performance.now() - began, undefined, { signal })
  }
})

const startOf = async (scope: Scope, type: RecordType): Promise<Progress> => ({
  stale: await findStaleFields(scope, type),
  done: 0,
  total: await countRecords(scope.db, scope.workspace.id, type.id),
  selection: 'all',
  after: '',
})

/** A value of a unique field that was held when it was computed may be free once its holder was computed too. */
const secondRun = (progress: Progress, hasUnique: boolean): Progress | undefined =>
  hasUnique && progress.selection === 'all' ? { ...progress, selection: 'empty', after: '' } : undefined
