import { startApi } from '#api/server.ts'
import { readConfig } from '#shared/platform/kernel/config.ts'
import { createLogger } from '#shared/platform/kernel/log.ts'
import { makeFilesPrivate } from '#shared/platform/kernel/process/private-files.ts'
import { stopOnSignal } from '#shared/platform/kernel/process/shutdown.ts'
import { startOrExit } from '#shared/platform/kernel/process/start-refusal.ts'

/** `bin/kontor api`: serves the API until a stop signal. */
const config = readConfig()
const log = createLogger('api', config.logLevel)
await makeFilesPrivate(config.dataDir)
const api = await startOrExit(log, () => startApi(config, log))
log.info({ port: api.port, metrics_port: api.metricsPort, public_url: config.publicUrl }, 'api ready')
stopOnSignal(log, () => api.stop(config.stopWithinSeconds * 1_000))
