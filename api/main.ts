import { startApi } from '#api/server.ts'
import { readConfig } from '#shared/platform/kernel/config.ts'
import { createLogger } from '#shared/platform/kernel/log.ts'
import { makeFilesPrivate } from '#shared/platform/kernel/process/private-files.ts'
import { failStart, stopOnSignal } from '#shared/platform/kernel/process/shutdown.ts'

/** `node api/main.ts`: serves the API until a stop signal. */
const config = readConfig()
const log = createLogger('api', config.logLevel)
await makeFilesPrivate(config.dataDir)
const api = await startApi(config, log).catch(failStart(log))
log.info({ port: api.port, public_url: config.publicUrl }, 'api ready')
stopOnSignal(log, () => api.stop(5_000))
