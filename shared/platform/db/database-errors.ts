import { type ErrorCode, Problem, problem } from '#shared/platform/kernel/errors.ts'

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

/**
 * Translates a database error into a Problem: by its constraint's name, OVERLOADED where load caused it, or UNAVAILABLE where the database
 * could not be reached. `mayBeWritten` tells that a change was sent whose outcome is unknown when the connection broke. Any other error is
 * returned unchanged.
 */
export function translateDatabaseError(error: unknown, mayBeWritten = false): unknown {
  if (error instanceof Problem) return error
  const { constraint, code = '' } = (error ?? {}) as DatabaseError
  const conflict = constraint === undefined ? undefined : conflicts.get(constraint)
  if (conflict) return problem(conflict[0], conflict[1], { cause: error })
  const overload = overloads[code]
  if (overload) return overloadedProblem(overload[0], { cause: error, expected: overload[1] })
  if (code === noConnectionLeft) return problem('UNAVAILABLE', 'The database has no connection left; try again soon', { cause: error })
  if (isDatabaseUnavailable(error)) return problem('UNAVAILABLE', mayBeWritten ? unknownOutcome : unreachable, { cause: error })
  return error
}

const unreachable = 'The database cannot be reached; try again soon'
const unknownOutcome =
  'The connection to the database broke before it confirmed the change, which may have been stored: repeat the call with the same ' +
  'Idempotency-Key, or read before you repeat it without one'

/** The failure of a call whose work may have been done, as the database could not be asked. */
export const unknownOutcomeProblem = (cause: unknown): Problem => problem('UNAVAILABLE', unknownOutcome, { cause })

/** The error of the database or driver behind a failure, also when it was translated to OVERLOADED or UNAVAILABLE. */
const databaseErrorOf = (error: unknown): DatabaseError =>
  ((error instanceof Problem && (error.code === 'OVERLOADED' || error.code === 'UNAVAILABLE') ? error.cause : error) ?? {}) as DatabaseError

/** Whether the failure is a deadlock or a serialization failure. */
export const isTransient = (error: unknown): boolean => /^40(?:001|P01)$/.test(databaseErrorOf(error).code ?? '')

/** Whether a statement was cancelled, by its time limit or on request. */
export const isStatementCancelled = (error: unknown): boolean => databaseErrorOf(error).code === '57014'

/** The name of the unique constraint that a statement violated; undefined for any other error. */
export function uniqueViolation(error: unknown): string | undefined {
  const { code, constraint } = (error ?? {}) as DatabaseError
  return code === '23505' ? constraint : undefined
}

/**
 * Whether a statement named a column or table that does not exist, has a prepared plan for a table that has changed, or refers to type
 * metadata that was deleted: it was built from type metadata that is out of date.
 */
export const isOutdatedTypeMetadata = (error: unknown): boolean => {
  const { code, constraint = '' } = (error ?? {}) as DatabaseError
  if (code === '23503') return typeReferences.has(constraint)
  return code === '42703' || code === '42P01' || (code === '0A000' && String((error as Error).message).includes('cached plan'))
}

/** Whether a statement waited for a lock longer than `lock_timeout`. */
export const isLockTimeout = (error: unknown): boolean => databaseErrorOf(error).code === '55P03'

/** Whether the database lacks resources: a full disk, no memory, too many sessions. Transient like an outage. */
export const isDatabaseFull = (error: unknown): boolean => databaseErrorOf(error).code?.startsWith('53') ?? false

/** Whether the database was unreachable or the connection broke before the answer: the statement may have been executed. */
export const isDatabaseUnavailable = (error: unknown): boolean => {
  if (error instanceof Problem && error.code === 'UNAVAILABLE') return true
  const { code = '', message = '' } = databaseErrorOf(error)
  return (
    /^(?:08|57P0[123]|ECONN|EPIPE|ETIMEDOUT)/.test(code) ||
    /connection terminated|connection error|not queryable|timeout exceeded when trying to connect|timeout expired|query read timeout/i.test(
      message,
    )
  )
}
