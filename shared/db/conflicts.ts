import { type ErrorCode, Problem, problem } from '#shared/kernel/errors.ts'

/** What PostgreSQL says of a failed statement, as far as we read it. */
interface DatabaseError {
  readonly code?: string
  readonly constraint?: string
  readonly detail?: string
}

type Conflict = readonly [ErrorCode, string]

const conflicts = new Map<string, Conflict>()

/** Names what a broken constraint means to the caller: `declareConflicts({ roles_name_key: ['KEY_TAKEN', 'name is taken'] })`. */
export function declareConflicts(table: Readonly<Record<string, Conflict>>): void {
  for (const [constraint, conflict] of Object.entries(table)) conflicts.set(constraint, conflict)
}

/** The Problem that a database error stands for by its constraint's name; any other error is returned as it is. */
export function translate(error: unknown): unknown {
  if (error instanceof Problem) return error
  const { constraint } = (error ?? {}) as DatabaseError
  const conflict = constraint === undefined ? undefined : conflicts.get(constraint)
  return conflict ? problem(conflict[0], conflict[1], { cause: error }) : error
}

/** Whether the database refused a statement because a unique index already holds the value, and which. */
export function uniqueViolation(error: unknown): string | undefined {
  const { code, constraint } = (error ?? {}) as DatabaseError
  return code === '23505' ? constraint : undefined
}

/** Whether a statement named a column or table that is gone: the picture of the type that built it is out of date. */
export const isOutdatedPicture = (error: unknown): boolean => {
  const { code } = (error ?? {}) as DatabaseError
  return code === '42703' || code === '42P01' || (code === '0A000' && String((error as Error).message).includes('cached plan'))
}

/** Whether a statement gave up waiting for a lock, after `lock_timeout`. */
export const isLockTimeout = (error: unknown): boolean => ((error ?? {}) as DatabaseError).code === '55P03'

/** Whether the database had no room for it: a full disk, no memory, too many sessions. That passes, as an outage does. */
export const isOutOfRoom = (error: unknown): boolean => ((error ?? {}) as DatabaseError).code?.startsWith('53') ?? false

/** Whether the database could not be asked, or went away before it answered: what was asked may have been done all the same. */
export const isOutOfReach = (error: unknown): boolean => {
  const { code = '', message = '' } = (error ?? {}) as { code?: string; message?: string }
  return (
    /^(?:08|57P0[123]|ECONN|EPIPE|ETIMEDOUT)/.test(code) ||
    /connection terminated|connection error|not queryable|timeout exceeded when trying to connect|timeout expired|query read timeout/i.test(
      message,
    )
  )
}
