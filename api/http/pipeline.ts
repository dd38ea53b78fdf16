import type { Context, Middleware } from 'koa'
import { authenticate } from '#api/access/authenticate.ts'
import { enterWorkspace } from '#api/access/enter.ts'
import { readJson } from '#api/http/body.ts'
import { respondFromWorker } from '#api/http/delegated.ts'
import { readQuery, refuseBadAddress } from '#api/http/query.ts'
import { sendData, sendDownload } from '#api/http/respond.ts'
import { Download, Replaced, type Request, type Route } from '#api/http/route.ts'
import type { ApiServices } from '#api/services.ts'
import type { Permission } from '#shared/access/permissions.ts'
import type { PlatformScope, Scope } from '#shared/access/scope.ts'
import { problem } from '#shared/kernel/errors.ts'

/**
 * One order for every request: IP limit, who (401), whose workspace (404), app on (404), may they (403), well formed (400), limit of what it
 * is about, work, answer. The request id stands before all of it, in the application.
 */
export function serve(route: Route, services: ApiServices): Middleware {
  return async (ctx) => {
    ctx.state.route = route.path
    if (route.limit) await services.rateLimits.take(ctx, route.limit)
    const scope = await admit(route, ctx, services)
    const request = await readRequest(route, ctx)
    await checkBodyResource(route, request, scope)
    if (route.limitBy) await services.rateLimits.takeSubject(ctx, route.limitBy[0], route.limitBy[1](request, scope as Scope))
    if (route.kind === 'delegate') return respondFromWorker(route, ctx, request, scope, services)
    const data = await route.handle(request, scope as Scope)
    if (data instanceof Download) sendDownload(ctx, route.status, data)
    else if (data instanceof Replaced) sendData(ctx, 200, data.data)
    else sendData(ctx, route.status, data)
  }
}

/** Who calls, whose workspace, whether its app is on, and whether the caller may: whatever its body says, which nobody has read yet. */
async function admit(route: Route, ctx: Context, services: ApiServices): Promise<PlatformScope | Scope> {
  const platform = await authenticate(ctx, route.permission, services)
  refuseBadAddress(ctx)
  const orgId = ctx.params?.orgId as string | undefined
  if (orgId === undefined) return platform
  return enterWorkspace(route, platform, orgId, {
    params: ctx.params,
    get query() {
      return queryOf(route, ctx)
    },
  })
}

async function readRequest(route: Route, ctx: Context): Promise<Request<string, unknown, unknown>> {
  const query = queryOf(route, ctx)
  const uploads = route.kind === 'delegate' && route.upload !== undefined
  const body = route.body && !uploads ? route.body.parse(await readJson(ctx.req)) : {}
  return { params: ctx.params, query, body, header: (name) => ctx.get(name), address: ctx.ip }
}

const queryOf = (route: Route, ctx: Context): unknown => (route.query ? readQuery(ctx.query, route.query) : {})

/** A permission for a resource that only the body names is asked for once the body is read. */
async function checkBodyResource(route: Route, request: Request<string, unknown, unknown>, scope: PlatformScope | Scope): Promise<void> {
  if (!route.onBody || !('actor' in scope)) return
  const resource = await route.onBody(request, scope)
  if (scope.actor.policy.permits(route.permission as Permission, resource) === 'never')
    throw problem('FORBIDDEN', `Needs ${route.permission} on ${resource}`)
}
