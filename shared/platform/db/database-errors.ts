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
  '53300': ['The database has no connection left for this work; try again soon', false],
}

/** The driver's messages for a connection timeout of the pool. */
const connectTimedOut = /^timeout exceeded when trying to connect|^Connection terminated due to connection timeout/

/**
 * Translates a database error into a Problem: by its constraint's name, or OVERLOADED where load caused it. Any other error is returned
 * unchanged.
 */
export function translateDatabaseError(error: unknown): unknown {
  if (error instanceof Problem) return error
  const { constraint, code = '', message = '' } = (error ?? {}) as DatabaseError
  const conflict = constraint === undefined ? undefined : conflicts.get(constraint)
  if (conflict) return problem(conflict[0], conflict[1], { cause: error })
  const overload = overloads[code]
  if (overload) return overloadedProblem(overload[0], { cause: error, expected: overload[1] })
  if (connectTimedOut.test(message))
    return overloadedProblem('The database took too long to connect; try again soon', { cause: error, expected: false })
  return error
}

/** The error of the database or driver behind a failure, also when it was translated to OVERLOADED. */
const databaseErrorOf = (error: unknown): DatabaseError => ((isOverloaded(error) ? (error as Problem).cause : error) ?? {}) as DatabaseError

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
  const { code = '', message = '' } = databaseErrorOf(error)
  return (
    /^(?:08|57P0[123]|ECONN|EPIPE|ETIMEDOUT)/.test(code) ||
    /connection terminated|connection error|not queryable|timeout exceeded when trying to connect|timeout expired|query read timeout/i.test(
      message,
    )
  )
}
