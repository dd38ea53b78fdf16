import { startApi } from '#api/server.ts'
import { readConfig } from '#shared/kernel/config.ts'
import { createLogger } from '#shared/kernel/log.ts'
import { keepPrivate } from '#shared/kernel/private-files.ts'
import { onStop } from '#shared/kernel/stop.ts'

/** `node api/main.ts`: serves the API until it is told to stop. */
const config = readConfig()
const log = createLogger('api', config.logLevel)
await keepPrivate(config.dataDir)
const api = await startApi(config, log)
log.info({ port: api.port, public_url: config.publicUrl }, 'api ready')
onStop(log, () => api.stop(5_000))
