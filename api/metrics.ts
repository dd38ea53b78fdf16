import { createHash, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { registry } from '#api/http/metrics.ts'
import { listen } from '#api/listen.ts'
import type { Config } from '#shared/platform/kernel/config.ts'
import { readMetrics } from '#shared/platform/kernel/metrics.ts'

/** Whether a request carries METRICS_TOKEN as its bearer token; true where there is none. */
export function mayReadMetrics({ metricsToken }: Pick<Config, 'metricsToken'>, { headers }: Pick<IncomingMessage, 'headers'>): boolean {
  if (metricsToken === null) return true
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(headers.authorization ?? ''), digest(`Bearer ${metricsToken}`))
}

/** Serves `/metrics` on METRICS_PORT, and nothing else. */
export async function serveMetrics(config: Config, port: number): Promise<{ readonly port: number; readonly close: () => void }> {
  const server = createServer((request, response) => void answer(config, request, response))
  await listen(server, port, config.host)
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

async function answer(config: Config, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== 'GET' || request.url?.split('?')[0] !== '/metrics') return void response.writeHead(404).end()
  if (!mayReadMetrics(config, request)) return void response.writeHead(401, { 'WWW-Authenticate': 'Bearer' }).end()
  const metrics = await readMetrics(registry)
  response.writeHead(200, { 'Content-Type': registry.contentType }).end(metrics)
}
