import { findKey, findSession, type PrincipalRow, renewSession, sessionDays } from '#shared/core/people/principals-store.ts'
import { readToken } from '#shared/core/people/tokens.ts'
import type { Principal } from '#shared/core/scope/scope.ts'
import type { Cache } from '#shared/platform/db/cache/cache.ts'
import { type Executor, firstRow } from '#shared/platform/db/database.ts'

/** An expired token. Its expiry is revealed only to its holder. */
interface ExpiredToken {
  readonly expiredAt: string
}

/**
 * The person or key of a bearer token, its expiry if it has expired, or undefined for any other invalid token. A malformed token costs the
 * same look-up as a wrong one, so neither the response nor its time tells them apart. Using a session renews it, at most once a day.
 */
export async function findPrincipal(cache: Cache, db: Executor, token: string, now: Date): Promise<Principal | ExpiredToken | undefined> {
  const parts = readToken(token) ?? unknownToken
  const principal = await cache.remember(db, parts.scopeId, parts.lookup, () =>
    firstRow(db, (parts.kind === 'key' ? findKey : findSession)({ hash: parts.hash, scopeId: parts.scopeId })),
  )
  if (!principal) return undefined
  if (principal.expires_at !== null && new Date(principal.expires_at) <= now) return { expiredAt: principal.expires_at }
  if (principal.renew_at !== null && new Date(principal.renew_at) <= now) await extendSession(cache, db, principal, now)
  return principal
}

const unknownToken = {
  kind: 'key',
  scopeId: '00000000-0000-0000-0000-000000000000',
  hash: Buffer.alloc(32),
  lookup: 'nobody',
} as const

async function extendSession(cache: Cache, db: Executor, { id, sessionId }: PrincipalRow, now: Date): Promise<void> {
  if (sessionId !== null) await db.query(renewSession({ id: sessionId, now, days: sessionDays }))
  cache.drop(id)
}
