import type { Working } from '#shared/kernel/background.ts'
import type { JobDefinition } from '#shared/queue/job.ts'

/** Something that fell due. */
export interface DueWork {
  /** The id of its job, its own each time that something falls due. */
  readonly id: string
  /** Null for the platform's own work. */
  readonly workspaceId: string | null
  /** What falls due, such as the id of a calendar: one of a kind and workspace has one time. */
  readonly subject: string
  /** When it was due, as an instant in UTC: the natural key of what its job does, together with the subject. */
  readonly at: string
}

/**
 * A kind of due work: a room declares it next to its jobs, and shared/due-kinds.ts names it. Until its workspace and its app let it go on
 * (shared/kernel/background.ts) it is held where they say that it waits, and then falls due once.
 */
export interface DueKind<Payload> extends Working {
  /** Never renamed while there are rows of it. */
  readonly name: string
  /** Untracked. It is done at least once; it runs as the platform, in the workspace of the row. */
  readonly job: JobDefinition<Payload, unknown>
  readonly payload: (work: DueWork) => Payload
  /** When it falls due the next time, if it does so by itself; written in the transaction that files the job. */
  readonly again?: (work: DueWork, now: Date) => Date | undefined
}

/** Declares a kind of due work once. It waits for what its job waits for, unless it says otherwise. */
export const defineDue = <Payload>(kind: Omit<DueKind<Payload>, keyof Working> & Partial<Working>): DueKind<Payload> =>
  Object.freeze({ work: kind.job.work, app: kind.job.app, ...kind })
