import type { Actor } from '#shared/core/scope/actor.ts'
import type { EventFamilies } from '#shared/core/scope/event-families.ts'
import type { RecordGuards } from '#shared/core/scope/record-guard.ts'
import type { EnteredWorkspace } from '#shared/core/scope/store.ts'
import type { Verification } from '#shared/platform/db/cache/verification.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import type { Statement } from '#shared/platform/db/statements/statement.ts'
import type { PlatformServices } from '#shared/platform/jobs/job-scope.ts'
import type { Cause } from '#shared/platform/kernel/cause.ts'
import type { CursorScope } from '#shared/platform/kernel/cursor.ts'
import type { BufferedCounter } from '#shared/platform/kernel/process/buffered-counter.ts'
import type { ComputeBudget } from '#shared/platform/kernel/process/compute-budget.ts'

/** Process-wide services. */
export interface Services extends PlatformServices {
  /** Counts searches by field (shared/core/types/indexes/count-use.ts). */
  readonly fieldUses: BufferedCounter
  /** Checks of features on record changes (shared/features.ts). */
  readonly recordGuards: RecordGuards<Scope>
  /** The types of events that the lists of workspaces hold (shared/features.ts). */
  readonly eventFamilies: EventFamilies<Scope>
}

/** The person or key that the credentials prove. Callers without credentials have none. */
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

/** Who operates the installation: a person, or the command line. */
export interface Operator {
  /** Null for the command line. */
  readonly id: string | null
  /** A person's address; for the command line, its user. */
  readonly name: string
  readonly isReadOnly: boolean
}

/** Scope of work outside any workspace, such as signing in or listing one's workspaces. */
export interface PlatformScope extends Services, Pick<CursorScope, 'cursorBinding'> {
  readonly db: Executor
  readonly principal: Principal | null
  readonly cause: Cause
  /** Set in a command, and in a request to a route of operators. */
  readonly operator?: Operator | undefined
  /** Set in a request to a page of the operator console: the session that its cookie proves. */
  readonly operatorSessionId?: string | undefined
  /** Set in a read-only request until its cache entries are known to be current; the first statement of `readRows` verifies them. */
  readonly verification?: Verification | undefined
  /** Set in a rehearsal, whose transaction will be rolled back. Auto-numbered fields then get no numbers. */
  readonly rehearsal?: true
  /** Set in a dry run, whose transaction will be rolled back: the next number of each counter that it has used, which it does not take. */
  readonly peekedNumbers?: Map<string, number>
  /** Set in a request: waits until an answer of so many bytes, which is measured, may be read and written. Throws OVERLOADED after 3 s. */
  readonly admitAnswer?: ((bytes: number) => Promise<unknown>) | undefined
}

/** Scope of work in a workspace: the workspace, the actor and its rights. */
export interface Scope extends PlatformScope {
  readonly workspace: EnteredWorkspace
  readonly actor: Actor
  /** Compute budget that the parts of a request share, such as the records of a batch. */
  readonly computeBudget?: ComputeBudget | undefined
}

/** The scope with its database bound to a transaction. */
export const within = <S extends PlatformScope>(scope: S, db: Executor): S => ({ ...scope, db, verification: undefined })

/** Runs a read-only statement. */
export const readRows = <Row>(
  { db, verification }: Pick<PlatformScope, 'db' | 'verification'>,
  statement: Statement<Row>,
): Promise<Row[]> => (verification ? verification.query<Row>(db, statement) : db.query<Row>(statement))

/** An executor of read-only statements, each run by `readRows`. */
export const createReader = (scope: Pick<PlatformScope, 'db' | 'verification'>): Pick<Executor, 'query' | 'owner'> => ({
  owner: scope.db.owner,
  query: (statement) => readRows(scope, statement),
})
