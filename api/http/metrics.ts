import type { Context } from 'koa'
import { collectDefaultMetrics, Histogram, Registry } from 'prom-client'
import type { ApiServices } from '#api/http/services.ts'
import { registerStoreMetrics } from '#shared/platform/blobs/store-metrics.ts'
import { registerClockGauge } from '#shared/platform/db/clock.ts'
import { registerConnectionGauges } from '#shared/platform/db/pool/connection-metrics.ts'
import { registerPartGauges } from '#shared/platform/kernel/process/part-metrics.ts'

/** The metrics of this process, for `GET /metrics`. */
export const registry = new Registry()
collectDefaultMetrics({ register: registry })
export const watchConnections = registerConnectionGauges(registry)
export const watchStore = registerStoreMetrics(registry)
export const watchParts = registerPartGauges(registry)
export const watchClock = registerClockGauge(registry)

const requestSeconds = new Histogram({
  name: 'kontor_http_request_seconds',
  help: 'Time until a request was answered, by method, route pattern and status',
  labelNames: ['method', 'route', 'status'],
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60],
  registers: [registry],
})

/**
 * The histogram's children by method, status and route. They are kept, because finding one by its labels on every request costs more than
 * observing the value.
 */
const timers = new Map<string, ReturnType<typeof requestSeconds.labels>>()

function timerOf(method: string, route: string, status: number): ReturnType<typeof requestSeconds.labels> {
  const name = `${method} ${status} ${route}`
  const known = timers.get(name)
  if (known) return known
  const timer = requestSeconds.labels({ method: isMethod(method) ? method : 'other', route, status })
  timers.set(name, timer)
  return timer
}

/** Clients can make up methods, so all unknown ones share a series: one for each would make their number unbounded. */
const isMethod = (method: string): boolean => ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].includes(method)

/**
 * Times a request; call the returned function when the answer is made. A request that took `slowRequestMs` or longer, not counting the time
 * that it waited for a worker, is logged as slow with its request id, unless it was refused because a part is away.
 */
export function observeRequest(ctx: Context, { config, log }: ApiServices): () => void {
  const started = performance.now()
  return () => {
    const ms = performance.now() - started
    const route: string = ctx.state.route ?? 'none'
    timerOf(ctx.method, route, ctx.status).observe(ms / 1000)
    const waitedMs: number = ctx.state.waitedMs ?? 0
    const isSlow = ms - waitedMs >= config.slowRequestMs && !ctx.state.isRefused
    if (!isSlow && !log.isLevelEnabled('debug')) return
    const line = {
      method: ctx.method,
      route,
      status: ctx.status,
      ms: Math.round(ms),
      waited_ms: Math.round(waitedMs),
      request_id: ctx.state.requestId,
    }
    if (isSlow) log.warn(line, 'slow request')
    else log.debug(line, 'request')
  }
}
