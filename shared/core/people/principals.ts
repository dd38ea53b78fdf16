import { findKey, findSession, renewSession, sessionDays } from '#shared/core/people/principals-store.ts'
import { readToken } from '#shared/core/people/tokens.ts'
import type { Principal } from '#shared/core/scope/scope.ts'
import type { Cache } from '#shared/platform/db/cache/cache.ts'
import type { Executor } from '#shared/platform/db/database.ts'

interface Known extends Principal {
  readonly expires_at: string | null
  /** Whether a day has passed since a session was last renewed by use. */
  readonly renew_at: string | null
}

/** A token that is no longer good, which only its holder can show. */
export interface ExpiredToken {
  readonly expiredAt: string
}

/**
 * The person or key that a bearer token stands for, when it expired, or undefined for every other kind of bad token. A malformed token costs the same look-up as
 * a wrong one, so neither the answer nor its time tells them apart. Using a session renews it, at most once a day.
 */
export async function findPrincipal(cache: Cache, db: Executor, token: string, now: Date): Promise<Principal | ExpiredToken | undefined> {
  const read = readToken(token) ?? nobody
  const known = await cache.remember(db, read.scopeId, read.lookup, async () => {
    const [row] = await db.query<Known>((read.kind === 'key' ? findKey : findSession)(read.hash, read.scopeId))
    return row
  })
  if (!known) return undefined
  if (known.expires_at !== null && new Date(known.expires_at) <= now) return { expiredAt: known.expires_at }
  if (known.renew_at !== null && new Date(known.renew_at) <= now) await renew(cache, db, known, now)
  return known
}

const nobody = { kind: 'key', scopeId: '00000000-0000-0000-0000-000000000000', hash: Buffer.alloc(32), lookup: 'nobody' } as const

async function renew(cache: Cache, db: Executor, known: Known, now: Date): Promise<void> {
  await db.query(renewSession(known.sessionId, now, sessionDays))
  cache.drop(known.id)
}
