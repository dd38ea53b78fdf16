import { findKey, findSession, renewSession, sessionDays } from '#shared/core/people/principals-store.ts'
import { readToken } from '#shared/core/people/tokens.ts'
import type { Principal } from '#shared/core/scope/scope.ts'
import type { Cache } from '#shared/platform/db/cache/cache.ts'
import type { Executor } from '#shared/platform/db/database.ts'

interface PrincipalRow extends Principal {
  readonly expires_at: string | null
  /** Time from which use renews the session, a day after its last renewal; null for a key. */
  readonly renew_at: string | null
}

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
  const principal = await cache.remember(db, parts.scopeId, parts.lookup, async () => {
    const [row] = await db.query<PrincipalRow>((parts.kind === 'key' ? findKey : findSession)(parts.hash, parts.scopeId))
    return row
  })
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

async function extendSession(cache: Cache, db: Executor, principal: PrincipalRow, now: Date): Promise<void> {
  await db.query(renewSession(principal.sessionId, now, sessionDays))
  cache.drop(principal.id)
}
