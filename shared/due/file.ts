import type { Executor, Tx } from '#shared/db/database.ts'
import { setDue } from '#shared/due/due.ts'
import type { DueKind, DueWork } from '#shared/due/kind.ts'
import { takeDueRows } from '#shared/due/store.ts'
import { waitsForApp, waitsForWorkspace } from '#shared/kernel/background.ts'
import { enqueueAll } from '#shared/queue/enqueue-all.ts'
import type { Queue } from '#shared/queue/queue.ts'

/** Who files due work: a process with a queue, and the time that it goes by. */
interface Filer {
  readonly db: Executor
  readonly queue: Queue
  readonly now: () => Date
}

type Row = (DueWork & { readonly kind: string; readonly met: number }) | { readonly kind: null; readonly met: number }

/**
 * Files the jobs of what is due, so many at most, and says how many rows were looked at. Taking, filing and setting the next time are one
 * transaction, so nothing is lost or filed twice, however many processes do it and whenever one of them dies. Kinds that are not among
 * `kinds` are left to a process that knows them.
 */
export function fileDue(filer: Filer, kinds: readonly DueKind<unknown>[], atMost: number): Promise<number> {
  const now = filer.now()
  return filer.db.transaction(async (tx) => {
    const rows = await takeRows(tx, kinds, now, atMost)
    const works = rows.flatMap((row) => (row.kind === null ? [] : [row]))
    for (const kind of kinds) {
      const ofKind = works.filter((work) => work.kind === kind.name)
      if (ofKind.length > 0) await fileKind(tx, filer.queue, kind, ofKind, now)
    }
    return rows[0]?.met ?? 0
  })
}

const takeRows = (tx: Tx, kinds: readonly DueKind<unknown>[], now: Date, atMost: number): Promise<Row[]> => {
  const waiting = kinds.flatMap(({ name, work }) => (waitsForWorkspace(work) ? [name] : []))
  const apps = Object.fromEntries(kinds.flatMap(({ name, work, app }) => (app !== null && waitsForApp(work) ? [[name, app]] : [])))
  const names = kinds.map(({ name }) => name)
  return tx.query<Row>(takeDueRows(now, names, atMost, waiting, JSON.stringify(apps)))
}

async function fileKind(tx: Tx, queue: Queue, kind: DueKind<unknown>, works: readonly DueWork[], now: Date): Promise<void> {
  const filings = works.map((work) => ({ id: work.id, origin: originOf(work), payload: kind.payload(work) }))
  await enqueueAll(queue, tx, kind.job, filings)
  for (const [workspaceId, ofWorkspace] of Map.groupBy(works, (work) => work.workspaceId)) {
    const next = ofWorkspace.flatMap((work) => {
      const at = kind.again?.(work, now)
      return at ? [{ subject: work.subject, at }] : []
    })
    await setDue(tx, kind, workspaceId, next)
  }
}

/** The platform does it; what its job writes is told by the id of the due work. */
const originOf = ({ id, workspaceId }: DueWork) => ({
  workspaceId,
  cause: { actorId: null, actorType: 'system' as const, requestId: id, depth: 0 },
})
