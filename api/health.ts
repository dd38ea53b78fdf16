import type Router from '@koa/router'
import { registry } from '#api/http/metrics.ts'
import type { ApiServices } from '#api/http/services.ts'
import { checkReadiness } from '#shared/platform/db/health.ts'

/** `/healthz`, `/readyz` and `/metrics` under the public address (decisions, Health). */
export function serveHealth(of: (path: string) => Router, { database, blobs }: ApiServices): void {
  of('/healthz').get('/healthz', (ctx) => {
    ctx.body = { status: 'ok' }
  })
  of('/readyz').get('/readyz', async (ctx) => {
    const [status, body] = await checkReadiness(database, () => blobs.fault())
    ctx.status = status
    ctx.body = body
  })
  of('/metrics').get('/metrics', async (ctx) => {
    ctx.type = registry.contentType
    ctx.body = await registry.metrics()
  })
}
