import type Router from '@koa/router'
import { registry } from '#api/http/metrics.ts'
import type { ApiServices } from '#api/http/services.ts'
import { checkReadiness } from '#shared/platform/db/health.ts'

/** Serves `/healthz`, `/readyz` and `/metrics` (decisions, Health). */
export function serveHealth(routerFor: (path: string) => Router, { database, cache, parts, blobs }: ApiServices): void {
  routerFor('/healthz').get('/healthz', (ctx) => {
    ctx.body = { status: 'ok' }
  })
  routerFor('/readyz').get('/readyz', async (ctx) => {
    const [status, body] = await checkReadiness({ database, cache, parts, checkStore: () => blobs.check() })
    ctx.status = status
    ctx.body = body
  })
  routerFor('/metrics').get('/metrics', async (ctx) => {
    ctx.type = registry.contentType
    ctx.body = await registry.metrics()
  })
}
