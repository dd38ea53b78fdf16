import type { Context } from 'koa'
import type { Admission } from '#api/http/declaration.ts'
import type { ApiServices } from '#api/services.ts'
import { problem } from '#shared/kernel/errors.ts'
import { findPrincipal } from '#shared/people/principals.ts'
import type { PlatformScope, Principal } from '#shared/scope/scope.ts'

/** Who calls: 401 without a valid key or session, and for a key where only a person may come. Public routes look at no credentials. */
export async function authenticate(ctx: Context, admission: Admission, services: ApiServices): Promise<PlatformScope> {
  const principal = admission === 'public' ? null : await requirePrincipal(ctx, admission, services)
  const cause = {
    actorId: principal?.id ?? null,
    actorType: principal?.type ?? 'system',
    requestId: ctx.state.requestId as string,
    depth: 0,
  } as const
  return {
    config: services.config,
    cache: services.cache,
    queue: services.queue,
    log: services.log,
    now: services.now,
    uses: services.uses,
    blobs: services.blobs,
    guards: services.guards,
    db: services.database,
    principal,
    cause,
  }
}

async function requirePrincipal(ctx: Context, admission: Admission, services: ApiServices): Promise<Principal> {
  const [, token = ''] = /^Bearer +(\S+)$/i.exec(ctx.get('authorization')) ?? []
  const principal = await findPrincipal(services.cache, services.database, token, services.now())
  if (!principal || (admission === 'person' && principal.type !== 'user')) {
    throw problem('UNAUTHORIZED', undefined, { headers: { 'WWW-Authenticate': 'Bearer' } })
  }
  return principal
}
