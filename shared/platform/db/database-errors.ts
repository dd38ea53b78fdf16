import { type ErrorCode, Problem, problem } from '#shared/platform/kernel/errors.ts'
import type { Part } from '#shared/platform/kernel/process/part.ts'

/** The fields of PostgreSQL's error that are read here. */
interface DatabaseError {
  readonly code?: string
  readonly constraint?: string
  readonly detail?: string
  readonly message?: string
}

type Conflict = readonly [ErrorCode, string]

const conflicts = new Map<string, Conflict>()

/** Declares the Problem that a violated constraint becomes: `declareConflicts({ roles_name_key: ['KEY_TAKEN', 'name is taken'] })`. */
export function declareConflicts(table: Readonly<Record<string, Conflict>>): void {
  for (const [constraint, conflict] of Object.entries(table)) conflicts.set(constraint, conflict)
}

const typeReferences = new Set<string>()

/** Declares a foreign key to a row of type metadata: its violation means that the metadata is out of date (`isOutdatedTypeMetadata`). */
export const declareTypeReference = (constraint: string): void => void typeReferences.add(constraint)

/** The failure of work that is refused because of load. It changed nothing, and a retry may succeed. */
export const overloadedProblem = (message: string, options: { readonly cause?: unknown; readonly expected?: boolean } = {}): Problem =>
  problem('OVERLOADED', message, { expected: true, ...options })

/** Whether work failed because of load, so that a retry may succeed. */
export const isOverloaded = (error: unknown): boolean => error instanceof Problem && error.code === 'OVERLOADED'

/**
 * PostgreSQL's error codes that load causes. Those that are not `expected` are logged, since the operator may have to act.
 */
const overloads: Readonly<Record<string, readonly [message: string, expected: boolean]>> = {
  '55P03': ['Other work held data that this work needs for too long; try again soon', true],
  '40P01': ['Other work changed the same data at the same time; try again soon', true],
  '40001': ['Other work changed the same data at the same time; try again soon', true],
  '57014': ['The database needed too long for this work; try again soon', false],
  '25P03': ['The server was too busy to continue this work; try again soon', false],
  '53200': ['The database has no memory left for this work; try again soon', false],
}

/** PostgreSQL's code of a session that was refused because all are taken (`max_connections`). */
const noConnectionLeft = '53300'

/** PostgreSQL's code of a disk without room. The database can be reached, so this is no outage of it. */
const diskFull = '53100'

interface Translation {
  /** Whether a change was sent whose outcome is unknown when the connection broke. */
  readonly mayBeWritten?: boolean
  /** The database as a part of the process, which notes that it is away. */
  readonly part?: Part | undefined
}

/**
 * Translates a database error into a Problem: by its constraint's name, OVERLOADED where load caused it, or UNAVAILABLE where the database
 * could not be reached. Any other error is returned unchanged.
 */
export function translateDatabaseError(error: unknown, { mayBeWritten = false, part }: Translation = {}): unknown {
  if (error instanceof Problem) return error
  const { code = '' } = (error ?? {}) as DatabaseError
  const conflict = conflicts.get(violatedConstraint(error) ?? '')
  if (conflict) return problem(conflict[0], conflict[1], { cause: error })
  const overload = overloads[code]
  if (overload) return overloadedProblem(overload[0], { cause: error, expected: overload[1] })
  if (code === diskFull) return problem('UNAVAILABLE', 'The database has no room left; try again later', { cause: error })
  if (code !== noConnectionLeft && !isDatabaseUnavailable(error)) return error
  part?.failed(error)
  return problem('UNAVAILABLE', code === noConnectionLeft ? noneLeft : mayBeWritten ? unknownOutcome : unreachable, {
    cause: error,
    part,
    expected: part !== undefined,
  })
}

/** A connection that could not be opened, for whatever reason: the database is away. */
export function connectionProblem(error: unknown, part?: Part): Problem {
  const translated = translateDatabaseError(error, { part })
  if (translated instanceof Problem) return translated
  part?.failed(error)
  return problem('UNAVAILABLE', unreachable, { cause: error, part, expected: part !== undefined })
}

const noneLeft = 'The database has no connection left; try again soon'

const unreachable = 'The database cannot be reached; try again soon'
const unknownOutcome =
  'The connection to the database broke before it confirmed the change, which may have been stored: repeat the call with the same ' +
  'Idempotency-Key, or read before you repeat it without one'

/** The failure of a call whose work may have been done, as the database could not be asked. */
export const unknownOutcomeProblem = (cause: unknown): Problem => problem('UNAVAILABLE', unknownOutcome, { cause })

/** The error of the database or driver behind a failure, also when it was translated to OVERLOADED or UNAVAILABLE. */
const databaseErrorOf = (error: unknown): DatabaseError =>
  error instanceof Problem && (error.code === 'OVERLOADED' || error.code === 'UNAVAILABLE')
    ? databaseErrorOf(error.cause)
    : ((error ?? {}) as DatabaseError)

/** Whether the failure is a deadlock or a serialization failure. */
export const isTransient = (error: unknown): boolean => /^40(?:001|P01)$/.test(databaseErrorOf(error).code ?? '')

/** Whether a statement was cancelled, by its time limit or on request. */
export const isStatementCancelled = (error: unknown): boolean => databaseErrorOf(error).code === '57014'

/** The number of a shard, which Citus adds to the names of its table and indexes: 102008 or above, never the 32 digits of an id. */
const shardNumber = /_\d{6,19}$/

/** A name with the number of its shard, in the quotes of whatever language the node has (`lc_messages`). */
const nameOnShard = /\w+_\d{6,19}(?!\w)/

/**
 * The name of the constraint that a statement violated; undefined for any other error. Citus raises the error of a worker node again without its
 * field `constraint` (`ReportResultError` in its remote_commands.c): the message has the name. The tables that Citus places on workers have
 * no constraints but unique ones.
 */
export function violatedConstraint(error: unknown): string | undefined {
  const { code, constraint, message = '' } = (error ?? {}) as DatabaseError
  return (constraint ?? (code === '23505' ? nameOnShard.exec(message)?.[0] : undefined))?.replace(shardNumber, '')
}

/** The name of the unique constraint that a statement violated; undefined for any other error. */
export const uniqueViolation = (error: unknown): string | undefined =>
  ((error ?? {}) as DatabaseError).code === '23505' ? violatedConstraint(error) : undefined

/**
 * Whether a statement named a column or table that does not exist, has a prepared plan for a table that has changed, or refers to type
 * metadata that was deleted: it was built from type metadata that is out of date.
 */
export const isOutdatedTypeMetadata = (error: unknown): boolean => {
  const { code } = (error ?? {}) as DatabaseError
  if (code === '23503') return typeReferences.has(violatedConstraint(error) ?? '')
  return code === '42703' || code === '42P01' || (code === '0A000' && String((error as Error).message).includes('cached plan'))
}

/** Whether a statement waited for a lock longer than `lock_timeout`. */
export const isLockTimeout = (error: unknown): boolean => databaseErrorOf(error).code === '55P03'

/** Whether the database lacks resources: a full disk, no memory, too many sessions. Transient like an outage. */
export const isDatabaseFull = (error: unknown): boolean => databaseErrorOf(error).code?.startsWith('53') ?? false

/**
 * Whether the database was unreachable, the connection broke before the answer, so that the statement may have been executed, or the database
 * is a standby that accepts no writes (25006).
 */
export const isDatabaseUnavailable = (error: unknown): boolean => {
  if (error instanceof Problem && error.part) return error.part.name === 'database'
  const { code = '', message = '' } = databaseErrorOf(error)
  return (
    /^(?:08|57P0[1-5]|25006|ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|ERR_STREAM_DESTROYED)/.test(code) ||
    /connection terminated|connection error|not queryable|timeout exceeded when trying to connect|timeout expired|query read timeout/i.test(
      message,
    )
  )
}

/** Whether the same statement may work later: the database is unreachable, full or overloaded. */
export const isDatabaseUnusable = (error: unknown): boolean => isDatabaseUnavailable(error) || isDatabaseFull(error) || isOverloaded(error)

/** The name of the part that was away when work failed; undefined when the work failed for another reason. */
export function partAwayOf(error: unknown): string | undefined {
  // A connection to the database that broke is a Problem by now; an error of the network that is none belongs to a call elsewhere.
  if (!(error instanceof Problem)) return isDatabaseFull(error) ? 'database' : undefined
  if (error.part) return error.part.name
  return error.code === 'UNAVAILABLE' && (isDatabaseUnavailable(error) || isDatabaseFull(error)) ? 'database' : undefined
}

/**
 * Whether the connection was cut under a statement, so that the same statement may work at once on a new one. False where the answer did not
 * come in time: the caller has waited for it already.
 */
export const isConnectionCut = (error: unknown): boolean => {
  const { code = '', message = '' } = databaseErrorOf(error)
  return /^(?:57P0[125]|25006|ECONNRESET|EPIPE|ERR_STREAM_DESTROYED)/.test(code) || /terminated unexpectedly|not queryable/.test(message)
}
