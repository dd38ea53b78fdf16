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

/** A kind of due work: a room declares it next to its jobs, and shared/due-kinds.ts names it. */
export interface DueKind<Payload> {
  /** Never renamed while there are rows of it. */
  readonly name: string
  /** Untracked. It is done at least once; it runs as the platform, in the workspace of the row. */
  readonly job: JobDefinition<Payload, unknown>
  readonly payload: (work: DueWork) => Payload
  /** What becomes of it in a suspended workspace (decisions, In the background): it waits, and falls due once afterwards, or it runs. */
  readonly whileSuspended: 'waits' | 'runs'
  /** The app without which it waits in the same way; null when it belongs to none. */
  readonly app: string | null
  /** When it falls due the next time, if it does so by itself; written in the transaction that files the job. */
  readonly again?: (work: DueWork, now: Date) => Date | undefined
}

/** Declares a kind of due work once. */
export const defineDue = <Payload>(kind: DueKind<Payload>): DueKind<Payload> => Object.freeze(kind)
