import type { Context } from 'koa'
import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client'
import type { Services } from '#shared/core/scope/scope.ts'
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

// A histogram of each route and status was 8,800 lines, 1.0 MB. Counts are by route, durations in buckets by feature; a route has its sum.
const requests = new Counter({
  name: 'kontor_http_requests_total',
  help: 'Answered requests, by method, route pattern and status: 429 and those from 500 by themselves, others as 2xx, 3xx, 4xx',
  labelNames: ['method', 'route', 'status'],
  registers: [registry],
})
const routeSeconds = new Counter({
  name: 'kontor_http_route_seconds_total',
  help: 'Seconds until requests were answered, by method and route pattern; divided by the number of requests it is their mean',
  labelNames: ['method', 'route'],
  registers: [registry],
})
const requestSeconds = new Histogram({
  name: 'kontor_http_request_seconds',
  help: "Time until a request was answered, by the route's tag in the description of the API, and by whether it reads or writes",
  labelNames: ['tag', 'kind'],
  buckets: [0.005, 0.025, 0.1, 0.25, 1, 2.5, 10],
  registers: [registry],
})

/** A request as the metrics see it. `route` and `tag` are `none` for a path that has no route. */
interface MeasuredRequest {
  readonly method: string
  readonly route: string
  readonly tag: string
  readonly status: number
}

/** Counts an answered request. */
export function recordRequest(request: MeasuredRequest, seconds: number): void {
  const { count, sum, timer } = seriesOf(request)
  count.inc()
  sum.inc(seconds)
  timer.observe(seconds)
}

interface Series {
  readonly count: ReturnType<typeof requests.labels>
  readonly sum: ReturnType<typeof routeSeconds.labels>
  readonly timer: ReturnType<typeof requestSeconds.labels>
}

/** The series by method, status and route. They are kept, because finding one by its labels costs more than observing the value. */
const known = new Map<string, Series>()

function seriesOf({ method: given, route, tag, status: code }: MeasuredRequest): Series {
  const method = isMethod(given) ? given : 'other'
  const status = code === 429 || code >= 500 ? String(code) : `${Math.floor(code / 100)}xx`
  const name = `${method} ${status} ${route}`
  const found = known.get(name)
  if (found) return found
  const kind = method === 'GET' || method === 'HEAD' ? 'read' : 'write'
  const series = {
    count: requests.labels({ method, route, status }),
    sum: routeSeconds.labels({ method, route }),
    timer: requestSeconds.labels({ tag, kind }),
  }
  known.set(name, series)
  return series
}

/** Clients can make up methods, so all unknown ones share a series: one for each would make their number unbounded. */
const isMethod = (method: string): boolean => ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].includes(method)

/**
 * Returns a function that times a request; call what that returns when the answer is made. A request that took `slowRequestMs` or longer, not
 * counting the time that it waited for a worker, is logged as slow, unless it was refused because a part is away. With ACCESS_LOG every
 * request is logged, whatever the level. The lines have the pattern of the route, and nothing that the caller sent.
 */
export function createRequestObserver({ config, log }: Pick<Services, 'config' | 'log'>): (ctx: Context) => () => void {
  const access = config.accessLog ? log.child({}, { level: 'info' }) : undefined
  return (ctx) => {
    const started = performance.now()
    return () => {
      const ms = performance.now() - started
      const route: string = ctx.state.route ?? 'none'
      recordRequest({ method: ctx.method, route, tag: ctx.state.tag ?? 'none', status: ctx.status }, ms / 1000)
      const waitedMs: number = ctx.state.waitedMs ?? 0
      const isSlow = ms - waitedMs >= config.slowRequestMs && !ctx.state.isRefused
      if (!isSlow && !access) return
      const method = isMethod(ctx.method) ? ctx.method : 'other'
      const line = { method, route, status: ctx.status, ms: Math.round(ms), waited_ms: Math.round(waitedMs) }
      access?.info(line, 'request')
      if (isSlow) log.warn(line, 'slow request')
    }
  }
}
