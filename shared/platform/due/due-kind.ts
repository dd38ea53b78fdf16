import type { JobDefinition } from '#shared/platform/jobs/job.ts'
import type { WorkDeclaration } from '#shared/platform/kernel/background.ts'

/** Work that is due. */
export interface DueWork {
  /** Id of the job; a new one for each due time. */
  readonly id: string
  /** Null for the platform's own work. */
  readonly workspaceId: string | null
  /** The subject, such as the id of a calendar. It has one due time per kind and workspace. */
  readonly subject: string
  /** The due time as an instant in UTC; together with the subject it is the deduplication key of the job's effects. */
  readonly at: string
}

/**
 * A kind of due work. A feature declares it next to its jobs, and its `feature.ts` names it. Work of a kind that waits for its workspace or
 * app (shared/platform/kernel/background.ts) stays due until the workspace is active or the app is on, and then runs once.
 */
export interface DueKind<Payload> extends WorkDeclaration {
  /** Stored in rows; must not be renamed while rows exist. */
  readonly name: string
  /** Must be untracked. Runs at least once, as the platform, in the workspace of the row. */
  readonly job: JobDefinition<Payload, unknown>
  readonly payload: (work: DueWork) => Payload
  /** The next due time of recurring work; written in the transaction that enqueues the job. */
  readonly nextTime?: (work: DueWork, now: Date) => Date | undefined
}

/** Declares a kind of due work. It waits for the same conditions as its job unless `kind` overrides `work` or `app`. */
export const defineDue = <Payload>(kind: Omit<DueKind<Payload>, keyof WorkDeclaration> & Partial<WorkDeclaration>): DueKind<Payload> =>
  Object.freeze({ work: kind.job.work, app: kind.job.app, ...kind })
