import type { Context } from 'koa'
import { authenticatePage, type OperatorCaller } from '#api/access/operator-session.ts'
import type { Admission } from '#api/http/declaration.ts'
import type { Route } from '#api/http/route.ts'
import type { ApiServices } from '#api/http/services.ts'
import { readOperator, requireActing } from '#shared/core/operators/operators.ts'
import { findPrincipal } from '#shared/core/people/principals.ts'
import type { PlatformScope, Principal } from '#shared/core/scope/scope.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { platformScope } from '#shared/services.ts'

/**
 * Scope of the caller. 401 without a valid key or session, or for a key where only a person is admitted; 403 where only an operator is, or
 * one who may act. Public routes skip the check.
 */
export async function authenticate(
  ctx: Context,
  route: Pick<Route, 'kind' | 'method' | 'permission'>,
  services: ApiServices,
  db: Executor,
): Promise<PlatformScope> {
  if (route.permission !== 'operator') {
    return scopeOf(ctx, services, db, route.permission === 'public' ? null : await requirePrincipal(ctx, route.permission, services))
  }
  const caller =
    route.kind === 'page'
      ? await authenticatePage(ctx.get('cookie'), services)
      : await requireOperator(await requirePrincipal(ctx, 'person', services), db)
  if (route.method !== 'GET') requireActing(caller.operator)
  return { ...scopeOf(ctx, services, db, caller.principal), operator: caller.operator, operatorSessionId: caller.operatorSessionId }
}

function scopeOf(ctx: Context, services: ApiServices, db: Executor, principal: Principal | null): PlatformScope {
  const cause = {
    actorId: principal?.id ?? null,
    actorType: principal?.type ?? 'system',
    requestId: ctx.state.requestId as string,
    depth: 0,
    kind: 'request',
    id: null,
  } as const
  return platformScope(services, db, principal, cause)
}

/** A person as operator. Throws FORBIDDEN for anybody else. */
async function requireOperator(principal: Principal, db: Executor): Promise<OperatorCaller> {
  const operator = await readOperator(db, principal.id)
  if (!operator) throw problem('FORBIDDEN', 'Only operators of this installation may do this')
  return { principal, operator }
}

async function requirePrincipal(ctx: Context, admission: Admission, services: ApiServices): Promise<Principal> {
  const header = ctx.get('authorization')
  const token = bearerToken(header)
  const principal = await findPrincipal(services.cache, services.database, token, services.now())
  if (!principal) throw unauthorized(header === '' ? undefined : token === '' ? malformed : unknown)
  if ('expiredAt' in principal) throw unauthorized(expired(token, principal.expiredAt))
  if (admission === 'person' && principal.type !== 'user') throw unauthorized(peopleOnly)
  return principal
}

/** The token of a header Authorization; empty text where it holds none. */
export const bearerToken = (header: string): string => /^Bearer +(\S+)$/i.exec(header)?.[1] ?? ''

const unauthorized = (message: string | undefined) => problem('UNAUTHORIZED', message, { headers: { 'WWW-Authenticate': 'Bearer' } })

// The same message for a token that never existed and for one that was revoked, so that guessing reveals nothing.
const malformed = 'Authorization must read `Bearer`, a space, and an access key or session token'
const unknown = 'The access key or session token is unknown: it was mistyped, revoked or signed out'
const peopleOnly = 'Only a person may do this: send a session token of POST /v1/auth/sign-in instead of an access key'
const expired = (token: string, at: string): string =>
  token.startsWith('kt_') ? `The access key expired at ${at}; make another` : `The session expired at ${at}; sign in again`
