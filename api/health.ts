import type Router from '@koa/router'
import { registry } from '#api/http/metrics.ts'
import type { ApiServices } from '#api/http/services.ts'
import { mayReadMetrics } from '#api/metrics.ts'
import { checkReadiness } from '#shared/platform/db/health.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { readMetrics } from '#shared/platform/kernel/metrics.ts'

/** Serves `/healthz`, `/readyz` and, unless they have a port of their own, `/metrics` (docs/contract/conventions.md#health). */
export function serveHealth(routerFor: (path: string) => Router, { database, cache, parts, blobs, config }: ApiServices): void {
  routerFor('/healthz').get('/healthz', (ctx) => {
    ctx.state.route = '/healthz'
    ctx.body = { status: 'ok' }
  })
  routerFor('/readyz').get('/readyz', async (ctx) => {
    ctx.state.route = '/readyz'
    const [status, body] = await checkReadiness({ database, cache, parts, checkStore: () => blobs.check() })
    ctx.status = status
    ctx.body = body
  })
  if (config.metricsPort !== null) return
  routerFor('/metrics').get('/metrics', async (ctx) => {
    ctx.state.route = '/metrics'
    if (!mayReadMetrics(config, ctx.req)) throw problem('UNAUTHORIZED', 'The metrics need METRICS_TOKEN as a bearer token')
    ctx.type = registry.contentType
    ctx.body = await readMetrics(registry)
  })
}
