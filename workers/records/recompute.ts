import { type Scope, within } from '#shared/access/scope.ts'
import { withRecordType } from '#shared/records/picture.ts'
import { countRecords, openTransactionsBefore, recomputeAfter, thisTransaction } from '#shared/records/recompute.ts'
import { recomputeRecords } from '#shared/types/jobs.ts'
import { handler } from '#workers/handler.ts'

/** How far a recompute has come. */
interface Progress {
  readonly done: number
  readonly total: number
  /** The last record that was computed; empty at the start. */
  readonly after: string
}

/** How often, and how long at most, other transactions are waited for. */
const [waitMs, patienceMs] = [50, 30_000]

export default handler(recomputeRecords, async ({ payload: { typeKey }, scope, signal, checkpoint, advance, commit }) => {
  if (checkpoint === undefined) await othersToEnd(scope, signal)
  let progress = (checkpoint ?? {
    done: 0,
    total: await withRecordType(scope, typeKey, (type) => countRecords(scope, type)),
    after: '',
  }) as Progress
  for (;;) {
    signal.throwIfAborted()
    const { done, total, after } = progress
    const step = await withRecordType(scope, typeKey, (type) =>
      scope.db.transaction(async (tx) => {
        const inside = within(scope, tx)
        const { count, last } = await recomputeAfter(inside, type, after)
        if (last === undefined) return undefined
        const next = { done: done + count, total: Math.max(total, done + count), after: last }
        await advance({ done: next.done, total: next.total }, next, inside)
        return next
      }),
    )
    if (step === undefined) return commit(async () => ({ result: { records: progress.done } }))
    progress = step
  }
})

/** Waits for writes that began before the formula was known: what they leave behind would stay uncomputed. */
async function othersToEnd(scope: Scope, signal: AbortSignal): Promise<void> {
  const mark = await thisTransaction(scope.db)
  const deadline = performance.now() + patienceMs
  while (performance.now() < deadline && (await openTransactionsBefore(scope.db, mark))) {
    signal.throwIfAborted()
    await new Promise((resolve) => setTimeout(resolve, waitMs))
  }
}
