import { startApi } from '#api/server.ts'
import { stopOnSignal } from '#shared/platform/kernel/process/shutdown.ts'
import { startProcess } from '#shared/platform/kernel/process/start-process.ts'

/** `bin/kontor api`: serves the API until a stop signal. */
await startProcess('api', async (config, log) => {
  const api = await startApi(config, log)
  stopOnSignal(log, () => api.stop(config.stopWithinSeconds * 1_000))
  log.info({ port: api.port, metrics_port: api.metricsPort, public_url: config.publicUrl }, 'api ready')
})
