import { once } from 'node:events'
import { createInterface } from 'node:readline'
import test, { type ExecutionContext } from 'ava'
import { startApi } from '#api/server.ts'
import { type Config, readConfig } from '#shared/platform/kernel/config.ts'
import { createLogger } from '#shared/platform/kernel/log.ts'
import { startProcess } from '#test/support/process.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const shared = shareWorld(test, {}, { pools: [] })
const token = 'a-token-of-prometheus'

async function ownApi(t: ExecutionContext, { config }: World, settings: Partial<Config>) {
  const api = await startApi({ ...config, ...settings }, createLogger('listening', 'silent'))
  t.teardown(() => api.stop(100))
  return api
}

/** The status of the metrics at a port, with this header. */
const statusOf = async (port: number | undefined, authorization?: string, path = '/metrics'): Promise<number> => {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: authorization === undefined ? {} : { authorization } })
  await response.arrayBuffer()
  return response.status
}

test('listening: metrics are answered to anybody, unless there is a token', async (t) => {
  const w = await shared()
  t.is(await statusOf(w.api.port), 200)
  const { port } = await ownApi(t, w, { metricsToken: token })
  for (const wrong of [undefined, token, `Bearer ${token}x`, `Bearer ${token.slice(1)}`, `Basic ${token}`, '']) {
    t.is(await statusOf(port, wrong), 401, wrong)
  }
  t.is(await statusOf(port, `Bearer ${token}`), 200)
  t.is(await statusOf(port, undefined, '/readyz'), 200)
})

test('listening: with a port of their own, metrics are answered there alone, by the same token', async (t) => {
  const w = await shared()
  const { port, metricsPort } = await ownApi(t, w, { metricsPort: 0, metricsToken: token })
  t.is(await statusOf(port, `Bearer ${token}`), 404)
  t.is(await statusOf(metricsPort), 401)
  t.is(await statusOf(metricsPort, `Bearer ${token}`), 200)
  t.is(await statusOf(metricsPort, `Bearer ${token}`, '/healthz'), 404)
})

test('listening: the API listens on HOST and a worker on WORKER_HOST', async (t) => {
  const w = await shared()
  for (const [name, variable] of [
    ['api', 'HOST'],
    ['mail', 'WORKER_HOST'],
  ] as const) {
    const child = await startProcess(t, w, name, { PORT: '0', LOG_LEVEL: 'info', [variable]: '127.0.0.2' })
    const lines = createInterface({ input: child.stdout })
    const [line] = await once(lines, 'line')
    const { port } = JSON.parse(line)
    t.is((await fetch(`http://127.0.0.2:${port}/healthz`)).status, 200)
    await t.throwsAsync(fetch(`http://127.0.0.1:${port}/healthz`), undefined, name)
  }
})

test('listening: a token that could be guessed or not be sent is refused', (t) => {
  const least = { DATABASE_URL: 'postgres://a', SECRET_KEY: '0'.repeat(64) }
  for (const METRICS_TOKEN of ['short', 'with blanks in the token', 'line\nline\nline\nline']) {
    t.throws(() => readConfig({ ...least, METRICS_TOKEN }), { message: /METRICS_TOKEN must be 16 or more/ })
  }
})
