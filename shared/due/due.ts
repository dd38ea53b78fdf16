import type { Executor } from '#shared/db/database.ts'
import type { DueKind } from '#shared/due/kind.ts'
import { deleteDue, writeDue, writeDueBy, writeDueUnlessSet } from '#shared/due/store.ts'

/** One thing that falls due, and when. A time that has passed means at once. */
export interface DueTime {
  readonly subject: string
  readonly at: Date
}

type AnyKind = Pick<DueKind<unknown>, 'name'>

const columns = (times: readonly DueTime[]) => [times.map(({ subject }) => subject), times.map(({ at }) => at)] as const

/**
 * Sets when each subject falls due, or moves it. Call it in the transaction that knows the time. A job that is filed at this moment for an
 * earlier time still runs, so it asks what is true when it runs.
 */
export async function setDue(db: Executor, kind: AnyKind, workspaceId: string | null, times: readonly DueTime[]): Promise<void> {
  if (times.length > 0) await db.query(writeDue(workspaceId, kind.name, ...columns(times)))
}

/** Sees to it that each subject falls due at its time at the latest: an earlier time that is set stays. */
export async function setDueBy(db: Executor, kind: AnyKind, workspaceId: string | null, times: readonly DueTime[]): Promise<void> {
  if (times.length > 0) await db.query(writeDueBy(workspaceId, kind.name, ...columns(times)))
}

/** Sets when each subject falls due that has no time yet. */
export async function setDueUnlessSet(db: Executor, kind: AnyKind, workspaceId: string | null, times: readonly DueTime[]): Promise<void> {
  if (times.length > 0) await db.query(writeDueUnlessSet(workspaceId, kind.name, ...columns(times)))
}

/** Lets subjects of a workspace fall due no more. */
export async function dropDue(db: Executor, kind: AnyKind, workspaceId: string, subjects: readonly string[]): Promise<void> {
  if (subjects.length > 0) await db.query(deleteDue(workspaceId, kind.name, subjects))
}
