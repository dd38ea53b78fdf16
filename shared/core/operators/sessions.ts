import {
  deleteOperatorSession,
  findLiveSessions,
  findOperator,
  findOperatorSession,
  insertOperatorSession,
} from '#shared/core/operators/store.ts'
import { checkPassword, type PasswordQuota } from '#shared/core/people/passwords.ts'
import { findPersonByEmail } from '#shared/core/people/store.ts'
import { hashSecret, makeSecret } from '#shared/core/people/tokens.ts'
import type { Operator, PlatformScope, Principal } from '#shared/core/scope/scope.ts'
import { type Executor, firstRow } from '#shared/platform/db/database.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { newId } from '#shared/platform/kernel/ids.ts'
import { hourMs } from '#shared/platform/kernel/time/units.ts'

/** How long a session of the console lasts. Use does not renew it. */
export const operatorSessionHours = 12

/** An operator with the session of the console that its token proves. */
export interface OperatorSession {
  readonly id: string
  readonly principal: Principal
  readonly operator: Operator
}

/**
 * Opens a session of the console for an operator's address and password, and returns its token. Every wrong pair gives the same UNAUTHORIZED and
 * takes the same time; FORBIDDEN for a person who is no operator.
 */
export async function openOperatorSession(
  { db, now }: Pick<PlatformScope, 'db' | 'now'>,
  quota: PasswordQuota,
  input: { readonly email: string; readonly password: string },
): Promise<string> {
  const person = await findPersonByEmail(db, input.email)
  if (!(await checkPassword(quota, input, person?.password_hash)) || !person) throw wrongPassword()
  if (!(await firstRow(db, findOperator({ userId: person.id })))) {
    throw problem('FORBIDDEN', 'This account is no operator of this installation')
  }
  const token = makeSecret()
  const session = {
    id: newId(),
    userId: person.id,
    passwordHash: person.password_hash,
    tokenHash: token.hash,
    expiresAt: new Date(now().getTime() + operatorSessionHours * hourMs),
  }
  if (!(await firstRow(db, insertOperatorSession(session)))) throw wrongPassword()
  return token.text
}

const wrongPassword = () => problem('UNAUTHORIZED', 'The address or the password is wrong')

/** The session of a token; undefined for one that is unknown, expired or ended, and once the person is no operator any more. */
export async function findSession(db: Executor, token: string, now: Date): Promise<OperatorSession | undefined> {
  const row = await firstRow(db, findOperatorSession({ tokenHash: hashSecret(token), now }))
  if (!row) return undefined
  const { id, user_id, name, address, read_only } = row
  const principal = { id: user_id, type: 'user', name, email: address, workspaceId: null, sessionId: null } as const
  return { id, principal, operator: { id: user_id, name: address, isReadOnly: read_only } }
}

/** Of these sessions, of the console or of people, those by which an operator may still look. */
export const listLiveSessions = async ({ db, now }: Pick<PlatformScope, 'db' | 'now'>, ids: readonly string[]): Promise<Set<string>> =>
  new Set((await db.query(findLiveSessions({ ids, now: now() }))).map(({ id }) => id))

/** Ends a session of the console. */
export const closeOperatorSession = async ({ db }: Pick<PlatformScope, 'db'>, id: string): Promise<void> => {
  await db.query(deleteOperatorSession({ id }))
}
