import { findPrincipal } from '#shared/core/people/principals.ts'
import { openSession } from '#shared/core/people/sessions.ts'
import { deleteSession, findPerson } from '#shared/core/people/store.ts'
import type { PlatformScope, Principal, Scope } from '#shared/core/scope/scope.ts'
import { createAccessKey, revokeAccessKey } from '#shared/core/workspaces/service-accounts/access-keys.ts'
import { firstRow } from '#shared/platform/db/database.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { dayMs } from '#shared/platform/kernel/time/units.ts'

/** A principal with credentials made for the console. */
export interface Caller {
  readonly principal: Principal
  readonly token: string
  /** Revokes the credentials. */
  readonly leave: () => Promise<void>
}

/** Signs a person in without a password. */
export async function callAsPerson(scope: PlatformScope, personId: string): Promise<Caller> {
  const person = await firstRow(scope.db, findPerson({ id: personId }))
  const session = person && (await openSession(scope, person))
  if (!session) throw problem('NOT_FOUND', `There is no person ${personId}`)
  const principal = await principalOf(scope, session.token)
  return {
    principal,
    token: session.token,
    leave: async () => void (await scope.db.query(deleteSession({ id: principal.sessionId ?? '' }))),
  }
}

/** Creates a key for a service account that expires after one day. `scope` is the platform's own in the account's workspace. */
export async function callAsAccount(scope: Scope, accountId: string): Promise<Caller> {
  const tomorrow = new Date(scope.now().getTime() + dayMs).toISOString()
  const { id, key } = await createAccessKey(scope, accountId, { name: 'console', expires_at: tomorrow })
  return { principal: await principalOf(scope, key), token: key, leave: () => revokeAccessKey(scope, accountId, id) }
}

async function principalOf({ cache, db, now }: PlatformScope, token: string): Promise<Principal> {
  const principal = await findPrincipal(cache, db, token, now())
  if (!principal || 'expiredAt' in principal) throw problem('UNAUTHORIZED')
  return principal
}
