import type { Executor } from '#shared/platform/db/database.ts'
import type { DueKind } from '#shared/platform/due/due-kind.ts'
import { deleteDue, writeDue, writeDueIfUnset, writeDueNoLater } from '#shared/platform/due/store.ts'

/** A subject and its due time. A time in the past means at once. */
interface DueTime {
  readonly subject: string
  readonly at: Date
}

type AnyKind = Pick<DueKind<unknown>, 'name'>

const listsOf = (times: readonly DueTime[]) => ({ subjects: times.map(({ subject }) => subject), times: times.map(({ at }) => at) })

/**
 * Sets or moves the due time of each subject. Call it in the transaction that determines the time. A job already enqueued for an earlier
 * time still runs, so the job must check the current state when it runs.
 */
export async function setDue(db: Executor, kind: AnyKind, workspaceId: string | null, times: readonly DueTime[]): Promise<void> {
  if (times.length > 0) await db.query(writeDue({ workspaceId, kind: kind.name, ...listsOf(times) }))
}

/** Sets the due time of each subject unless an earlier one is set. */
export async function setDueNoLater(db: Executor, kind: AnyKind, workspaceId: string | null, times: readonly DueTime[]): Promise<void> {
  if (times.length > 0) await db.query(writeDueNoLater({ workspaceId, kind: kind.name, ...listsOf(times) }))
}

/** Sets the due time of each subject that has none. */
export async function setDueIfUnset(db: Executor, kind: AnyKind, workspaceId: string | null, times: readonly DueTime[]): Promise<void> {
  if (times.length > 0) await db.query(writeDueIfUnset({ workspaceId, kind: kind.name, ...listsOf(times) }))
}

/** Removes the due times of a workspace's subjects. */
export async function removeDue(db: Executor, kind: AnyKind, workspaceId: string, subjects: readonly string[]): Promise<void> {
  if (subjects.length > 0) await db.query(deleteDue({ workspaceId, kind: kind.name, subjects }))
}
