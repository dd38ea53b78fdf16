import type { Executor, Tx } from '#shared/platform/db/database.ts'
import type { DueKind, DueWork } from '#shared/platform/due/due-kind.ts'
import { setDue } from '#shared/platform/due/due-times.ts'
import { takeDueRows } from '#shared/platform/due/store.ts'
import { enqueueAll } from '#shared/platform/jobs/enqueue-all.ts'
import type { JobQueue } from '#shared/platform/jobs/job-queue.ts'
import { waitsForApp, waitsForWorkspace } from '#shared/platform/kernel/background.ts'
import { platformCause } from '#shared/platform/kernel/cause.ts'

/** Services for enqueuing due work, and the clock it uses. */
interface DueServices {
  readonly db: Executor
  readonly jobQueue: JobQueue
  readonly now: () => Date
}

/**
 * Enqueues the jobs of due work, at most `limit` rows, and returns the number of rows examined. Taking rows, enqueuing and setting the next
 * times are one transaction, so concurrent processes and crashes lose and duplicate nothing. Kinds that are not in `kinds` are left to
 * processes that know them.
 */
export function enqueueDue(services: DueServices, kinds: readonly DueKind<unknown>[], limit: number): Promise<number> {
  const now = services.now()
  return services.db.transaction(async (tx) => {
    const rows = await takeRows(tx, kinds, now, limit)
    const works = rows.flatMap(({ id, workspaceId, kind, subject, at }) =>
      id === null || kind === null || subject === null || at === null ? [] : [{ id, workspaceId, kind, subject, at }],
    )
    for (const kind of kinds) {
      const ofKind = works.filter((work) => work.kind === kind.name)
      if (ofKind.length > 0) await enqueueKind(tx, services.jobQueue, kind, ofKind, now)
    }
    return rows[0]?.met ?? 0
  })
}

function takeRows(tx: Tx, kinds: readonly DueKind<unknown>[], now: Date, limit: number) {
  const suspendedKinds = kinds.flatMap(({ name, work }) => (waitsForWorkspace(work) ? [name] : []))
  const apps = Object.fromEntries(kinds.flatMap(({ name, work, app }) => (app !== null && waitsForApp(work) ? [[name, app]] : [])))
  const names = kinds.map(({ name }) => name)
  return tx.query(takeDueRows({ now, kinds: names, limit, suspendedKinds, appOfKind: JSON.stringify(apps) }))
}

async function enqueueKind(tx: Tx, queue: JobQueue, kind: DueKind<unknown>, works: readonly DueWork[], now: Date): Promise<void> {
  const requests = works.map((work) => ({ id: work.id, origin: originOf(work), payload: kind.payload(work) }))
  await enqueueAll(queue, tx, kind.job, requests)
  for (const [workspaceId, ofWorkspace] of Map.groupBy(works, (work) => work.workspaceId)) {
    const next = ofWorkspace.flatMap((work) => {
      const at = kind.nextTime?.(work, now)
      return at ? [{ subject: work.subject, at }] : []
    })
    await setDue(tx, kind, workspaceId, next)
  }
}

/** Origin of the job: the platform, with the due work's id as the request id. */
const originOf = ({ id, workspaceId }: DueWork) => ({
  workspaceId,
  cause: platformCause(id),
})
