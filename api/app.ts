import Koa from 'koa'
import { withoutPort } from '#api/access/client-address.ts'
import { requireContentHost } from '#api/features/sites/content-host.ts'
import { serveHealth } from '#api/health.ts'
import { allowCrossOrigin } from '#api/http/cors.ts'
import { createRequestObserver } from '#api/http/metrics.ts'
import { describeMissingRoute } from '#api/http/not-found.ts'
import { createRouteHandler } from '#api/http/pipeline.ts'
import { answerFailure } from '#api/http/reply/failure.ts'
import { drainUnreadBody } from '#api/http/request/arrival.ts'
import { requestIdOf } from '#api/http/request/request-id.ts'
import { createRouters } from '#api/http/routers.ts'
import type { ApiServices } from '#api/http/services.ts'
import { servePageFiles } from '#api/pages/assets/files.ts'
import { serveGuide } from '#api/pages/guide/guide.ts'
import { serveDescription } from '#api/pages/reference/docs.ts'
import { sections } from '#api/routes.ts'
import { runNamed } from '#shared/platform/kernel/process/current-request.ts'
import { RunningCall } from '#shared/platform/kernel/process/running-calls.ts'
import { addToFigure } from '#shared/platform/kernel/process/work-figures.ts'

/** The API as a Koa application, from its route declarations. */
export function createApp(services: ApiServices): Koa {
  const app = new Koa({ proxy: services.config.trustProxy > 0, maxIpsCount: services.config.trustProxy })
  app.silent = true
  const routes = sections.flatMap(({ base, routes }) => routes.map((route) => [base + route.path, route] as const))
  const paths = routes.map(([path]) => path)
  const routers = createRouters(routes, (route) => createRouteHandler(route, services))
  serveHealth(routers.routerFor, services)
  serveDescription(routers.routerFor, sections, services.config.publicUrl)
  // After the reference: of paths with a name, the first that was registered answers.
  serveGuide(routers.routerFor, services)
  servePageFiles(routers.routerFor)
  const observeRequest = createRequestObserver(services)
  const respond: Koa.Middleware = async (ctx, next) => {
    const finished = observeRequest(ctx)
    const call = new RunningCall()
    ctx.state.call = call
    drainUnreadBody(ctx)
    try {
      requireContentHost(ctx, services.config)
      if (allowCrossOrigin(ctx, routers)) return
      await next()
      if (ctx.status === 404 && ctx.body === undefined) throw describeMissingRoute(ctx, routers, paths)
    } catch (error) {
      answerFailure(ctx, error, services)
    } finally {
      call.end()
      addToFigure(call.owner, 'calls', 1)
      finished()
    }
  }
  app.use((ctx, next) => {
    const requestId = requestIdOf(ctx.req.headers['x-request-id'] as string | undefined)
    ctx.state.requestId = requestId
    ctx.set('X-Request-ID', requestId)
    ctx.request.ip = withoutPort(ctx.request.ip)
    return runNamed(requestId, undefined, () => respond(ctx, next))
  })
  app.use(routers.routes())
  return app
}
