import { type ErrorCode, Problem, problem } from '#shared/platform/kernel/errors.ts'

/** What PostgreSQL says of a failed statement, as far as we read it. */
interface DatabaseError {
  readonly code?: string
  readonly constraint?: string
  readonly detail?: string
  readonly message?: string
}

type Conflict = readonly [ErrorCode, string]

const conflicts = new Map<string, Conflict>()

/** Names what a broken constraint means to the caller: `declareConflicts({ roles_name_key: ['KEY_TAKEN', 'name is taken'] })`. */
export function declareConflicts(table: Readonly<Record<string, Conflict>>): void {
  for (const [constraint, conflict] of Object.entries(table)) conflicts.set(constraint, conflict)
}

/** The failure of work that was refused because of load. It changed nothing, and a retry may succeed. */
export const overloadedProblem = (message: string, options: { readonly cause?: unknown; readonly expected?: boolean } = {}): Problem =>
  problem('OVERLOADED', message, { expected: true, ...options })

/** Whether work met too much load, so that it is worth trying again. */
export const isOverloaded = (error: unknown): boolean => error instanceof Problem && error.code === 'OVERLOADED'

/**
 * What load makes PostgreSQL refuse, by its code. All but a wait for a lock is logged as well: the operator may have to do something about it.
 */
const overloads: Readonly<Record<string, readonly [message: string, expected: boolean]>> = {
  '55P03': ['Others were changing what this needs for too long; try again soon', true],
  '40P01': ['Others were changing what this needs at the same time; try again soon', true],
  '40001': ['Others were changing what this needs at the same time; try again soon', true],
  '57014': ['The database was at work on this for too long; try again soon', false],
  '25P03': ['The server was too busy to go on with this; try again soon', false],
  '53200': ['The database has no memory left for this; try again soon', false],
  '53300': ['The database has no connection left for this; try again soon', false],
}

/** The failure to connect within the time that the pool allows. */
const connectTimedOut = /^timeout exceeded when trying to connect|^Connection terminated due to connection timeout/

/**
 * The Problem that a database error stands for: by its constraint's name, or OVERLOADED where load caused it. Any other error is returned as
 * it is.
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

/** What the database or the driver said of a failure, also of one that was translated. */
const saidOf = (error: unknown): DatabaseError => ((isOverloaded(error) ? (error as Problem).cause : error) ?? {}) as DatabaseError

/** Whether the database ended work to let others go on: a deadlock, or a serialization failure. */
export const isTransient = (error: unknown): boolean => /^40(?:001|P01)$/.test(saidOf(error).code ?? '')

/** Whether a statement was ended, because it took too long or because somebody cancelled it. */
export const isStatementCancelled = (error: unknown): boolean => saidOf(error).code === '57014'

/** Whether the database refused a statement because a unique index already holds the value, and which. */
export function uniqueViolation(error: unknown): string | undefined {
  const { code, constraint } = (error ?? {}) as DatabaseError
  return code === '23505' ? constraint : undefined
}

/** Whether a statement named a column or table that is gone: the picture of the type that built it is out of date. */
export const isOutdatedTypeMetadata = (error: unknown): boolean => {
  const { code } = (error ?? {}) as DatabaseError
  return code === '42703' || code === '42P01' || (code === '0A000' && String((error as Error).message).includes('cached plan'))
}

/** Whether a statement gave up waiting for a lock, after `lock_timeout`. */
export const isLockTimeout = (error: unknown): boolean => saidOf(error).code === '55P03'

/** Whether the database had no room for it: a full disk, no memory, too many sessions. That passes, as an outage does. */
export const isDatabaseFull = (error: unknown): boolean => saidOf(error).code?.startsWith('53') ?? false

/** Whether the database could not be asked, or went away before it answered: what was asked may have been done all the same. */
export const isDatabaseUnavailable = (error: unknown): boolean => {
  const { code = '', message = '' } = saidOf(error)
  return (
    /^(?:08|57P0[123]|ECONN|EPIPE|ETIMEDOUT)/.test(code) ||
    /connection terminated|connection error|not queryable|timeout exceeded when trying to connect|timeout expired|query read timeout/i.test(
      message,
    )
  )
}
