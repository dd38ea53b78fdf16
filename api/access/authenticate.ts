import type { Context } from 'koa'
import type { Admission } from '#api/http/declaration.ts'
import type { ApiServices } from '#api/http/services.ts'
import { findPrincipal } from '#shared/core/people/principals.ts'
import type { PlatformScope, Principal } from '#shared/core/scope/scope.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { platformScope } from '#shared/services.ts'

/** Scope of the caller. 401 without a valid key or session, or for a key where only a person is admitted. Public routes skip the check. */
export async function authenticate(ctx: Context, admission: Admission, services: ApiServices, db: Executor): Promise<PlatformScope> {
  const principal = admission === 'public' ? null : await requirePrincipal(ctx, admission, services)
  const cause = {
    actorId: principal?.id ?? null,
    actorType: principal?.type ?? 'system',
    requestId: ctx.state.requestId as string,
    depth: 0,
  } as const
  return platformScope(services, db, principal, cause)
}

async function requirePrincipal(ctx: Context, admission: Admission, services: ApiServices): Promise<Principal> {
  const header = ctx.get('authorization')
  const [, token = ''] = /^Bearer +(\S+)$/i.exec(header) ?? []
  const principal = await findPrincipal(services.cache, services.database, token, services.now())
  if (!principal) throw unauthorized(header === '' ? undefined : token === '' ? malformed : unknown)
  if ('expiredAt' in principal) throw unauthorized(expired(token, principal.expiredAt))
  if (admission === 'person' && principal.type !== 'user') throw unauthorized(peopleOnly)
  return principal
}

const unauthorized = (message: string | undefined) => problem('UNAUTHORIZED', message, { headers: { 'WWW-Authenticate': 'Bearer' } })

// The same message for a token that never existed and for one that was revoked, so that guessing reveals nothing.
const malformed = 'Authorization must read `Bearer`, a space, and an access key or session token'
const unknown = 'The access key or session token is unknown: it was mistyped, revoked or signed out'
const peopleOnly = 'Only a person may do this: send a session token of POST /v1/auth/sign-in instead of an access key'
const expired = (token: string, at: string): string =>
  token.startsWith('kt_') ? `The access key expired at ${at}; make another` : `The session expired at ${at}; sign in again`
