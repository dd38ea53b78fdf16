import type { Actor } from '#shared/core/scope/actor.ts'
import type { RecordGuards } from '#shared/core/scope/record-guard.ts'
import type { Workspace } from '#shared/core/scope/workspace.ts'
import type { Blobs } from '#shared/platform/blobs/blobs.ts'
import type { Cache } from '#shared/platform/db/cache/cache.ts'
import type { Verification } from '#shared/platform/db/cache/verification.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import type { Statement } from '#shared/platform/db/statements/statement.ts'
import type { JobQueue } from '#shared/platform/jobs/job-queue.ts'
import type { Cause } from '#shared/platform/kernel/cause.ts'
import type { Config } from '#shared/platform/kernel/config.ts'
import type { Logger } from '#shared/platform/kernel/log.ts'
import type { BufferedCounter } from '#shared/platform/kernel/process/buffered-counter.ts'
import type { ComputeBudget } from '#shared/platform/kernel/process/compute-budget.ts'

/** What every process holds one of, and every piece of work reaches. */
export interface Services {
  readonly config: Config
  readonly cache: Cache
  readonly jobQueue: JobQueue
  /** The bytes of files. */
  readonly blobs: Blobs
  readonly log: Logger
  /** Counts how often fields are searched by (shared/core/types/indexes/count-use.ts). */
  readonly fieldUses: BufferedCounter
  /** What rooms may refuse about records (shared/guards.ts). */
  readonly recordGuards: RecordGuards<Scope>
  /** The time by the database's clock (shared/platform/db/clock.ts); tests own it. */
  readonly now: () => Date
}

/** A person or key, as its credentials say; null for a caller without any. */
export interface Principal {
  readonly id: string
  readonly type: 'user' | 'service'
  readonly name: string
  readonly email: string | null
  /** The workspace that an access key belongs to; null for a person, who may belong to many. */
  readonly workspaceId: string | null
  /** The session of a person; null for a key. */
  readonly sessionId: string | null
}

/** What work outside any workspace stands in: signing in, listing one's workspaces. */
export interface PlatformScope extends Services {
  readonly db: Executor
  readonly principal: Principal | null
  readonly cause: Cause
  /** Set while a request that only reads has not been told yet whether what is remembered holds; `readRows` lets its statement say so. */
  readonly verification?: Verification | undefined
  /** Set in a transaction that will be taken back: it takes no number of a series, since those do not come back. */
  readonly rehearsal?: true
}

/** What every piece of work in a workspace stands in: where it happens, on whose behalf, and what that caller may do. */
export interface Scope extends PlatformScope {
  readonly workspace: Workspace
  readonly actor: Actor
  /** What the question may compute, where its parts have no bound of their own, such as the records of a batch. */
  readonly computeBudget?: ComputeBudget | undefined
}

/** The same scope in a transaction. */
export const within = <S extends PlatformScope>(scope: S, db: Executor): S => ({ ...scope, db, verification: undefined })

/** Runs a statement that only reads. */
export const readRows = <Row>({ db, verification }: Pick<PlatformScope, 'db' | 'verification'>, statement: Statement): Promise<Row[]> =>
  verification ? verification.query<Row>(db, statement) : db.query<Row>(statement)

/** The same as a reader of statements. */
export const createReader = (scope: Pick<PlatformScope, 'db' | 'verification'>): Pick<Executor, 'query'> => ({
  query: (statement) => readRows(scope, statement),
})
