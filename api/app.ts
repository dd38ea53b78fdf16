import Koa from 'koa'
import { requirePlace } from '#api/features/sites/content-host.ts'
import { serveHealth } from '#api/health.ts'
import { crossOrigin } from '#api/http/cors.ts'
import { observe } from '#api/http/metrics.ts'
import { missing } from '#api/http/not-found.ts'
import { serve } from '#api/http/pipeline.ts'
import { answerFailure } from '#api/http/reply/failure.ts'
import { endUnread } from '#api/http/request/arrival.ts'
import { requestIdOf } from '#api/http/request/request-id.ts'
import { createRooms } from '#api/http/routers.ts'
import type { ApiServices } from '#api/http/services.ts'
import { servePageFiles } from '#api/pages/assets/files.ts'
import { serveDescription } from '#api/pages/reference/docs.ts'
import { sections } from '#api/routes.ts'
import { currentRequest } from '#shared/platform/kernel/process/current-request.ts'
import { countCall } from '#shared/platform/kernel/process/thread-share.ts'

/** The API as a Koa application, from its route declarations. */
export function createApp(services: ApiServices): Koa {
  const app = new Koa({ proxy: services.config.trustProxy > 0, maxIpsCount: services.config.trustProxy })
  app.silent = true
  const routes = sections.flatMap(({ base, routes }) => routes.map((route) => [base + route.path, route] as const))
  const paths = routes.map(([path]) => path)
  const rooms = createRooms(routes, (route) => serve(route, services))
  serveHealth(rooms.of, services)
  serveDescription(rooms.of, sections, services.config.publicUrl)
  servePageFiles(rooms.of)
  app.use(async (ctx, next) => {
    const requestId = requestIdOf(ctx.req.headers['x-request-id'] as string | undefined)
    ctx.state.requestId = requestId
    ctx.set('X-Request-ID', requestId)
    const finished = observe(ctx, services)
    const endCall = countCall()
    endUnread(ctx)
    try {
      requirePlace(ctx, services.config)
      if (crossOrigin(ctx, rooms)) return
      await currentRequest.run(requestId, next)
      if (ctx.status === 404 && ctx.body === undefined) throw missing(ctx, rooms, paths)
    } catch (error) {
      answerFailure(ctx, error, services)
    } finally {
      endCall()
      finished()
    }
  })
  app.use(rooms.routes())
  return app
}
