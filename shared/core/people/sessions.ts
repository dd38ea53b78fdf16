import { checkPassword, type PasswordQuota } from '#shared/core/people/passwords.ts'
import { sessionDays } from '#shared/core/people/principals-store.ts'
import { deleteSession, findPersonByEmail, insertSession, type Person } from '#shared/core/people/store.ts'
import { makeToken } from '#shared/core/people/tokens.ts'
import type { PlatformScope } from '#shared/core/scope/scope.ts'
import { type Problem, problem } from '#shared/platform/kernel/errors.ts'
import { newId } from '#shared/platform/kernel/ids.ts'
import { toInstant } from '#shared/platform/kernel/time/instant.ts'
import { dayMs } from '#shared/platform/kernel/time/units.ts'

/** A new session with its token, as returned to the person. */
export interface OpenedSession {
  readonly token: string
  readonly expires_at: string
  readonly user: { readonly id: string; readonly email: string; readonly name: string }
}

/** Opens a session for this address and password. Every wrong pair gives the same UNAUTHORIZED and takes the same time. */
export async function signIn(
  scope: PlatformScope,
  quota: PasswordQuota,
  input: { email: string; password: string },
): Promise<OpenedSession> {
  const person = await findPersonByEmail(scope.db, input.email)
  const isRight = await checkPassword(quota, input, person?.password_hash)
  const session = person && isRight ? await openSession(scope, person) : undefined
  if (!session) throw wrongPasswordProblem('The address or the password is wrong')
  return session
}

/** UNAUTHORIZED for a wrong password. */
export const wrongPasswordProblem = (message: string): Problem =>
  problem('UNAUTHORIZED', message, { headers: { 'WWW-Authenticate': 'Bearer' } })

/** Opens a session for a person whose password was verified; undefined when the password has changed since. */
export async function openSession({ db, now }: PlatformScope, person: Person): Promise<OpenedSession | undefined> {
  const { id, email, name } = person
  const token = makeToken('session', id)
  const expiresAt = toInstant(new Date(now().getTime() + sessionDays * dayMs))
  const isOpen = await insertSession(db, { id: newId(), person, tokenHash: token.hash, expiresAt })
  return isOpen ? { token: token.text, expires_at: expiresAt, user: { id, email, name } } : undefined
}

/** Ends the caller's session: its token is invalid in every process. */
export async function signOut({ db, principal }: PlatformScope): Promise<void> {
  if (principal?.sessionId) await db.query(deleteSession({ id: principal.sessionId }))
}
