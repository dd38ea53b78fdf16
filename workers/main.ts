import { createServer } from 'node:http'
import { answerHealth, checkReadiness } from '#shared/platform/db/health.ts'
import { type WorkerPool, workerPools } from '#shared/platform/jobs/job.ts'
import { readConfig } from '#shared/platform/kernel/config.ts'
import { createLogger } from '#shared/platform/kernel/log.ts'
import { makeFilesPrivate } from '#shared/platform/kernel/process/private-files.ts'
import { stopOnSignal } from '#shared/platform/kernel/process/shutdown.ts'
import { startOrExit } from '#shared/platform/kernel/process/start-refusal.ts'
import { registry } from '#workers/metrics.ts'
import { startWorker } from '#workers/worker.ts'

/** `bin/kontor worker --pools=functions,flows`: runs these pools until a stop signal. */
const config = readConfig()
await makeFilesPrivate(config.dataDir)
const chosen = readPools(process.argv.slice(2))
const log = createLogger(`worker ${chosen.join(',')}`, config.logLevel)
const worker = await startOrExit(log, () => startWorker(config, chosen, log))

const { database, cache, parts, blobs } = worker
const ready = () => checkReadiness({ database, cache, parts, checkStore: () => blobs.check() })
const health = createServer((request, response) => void answerHealth(request, response, ready, registry))
const where = { port: config.workerPort, ...(config.workerHost !== undefined && { host: config.workerHost }) }
health.listen(where, () => log.info({ pools: chosen, port: (health.address() as { port: number }).port }, 'worker ready'))

stopOnSignal(log, async () => {
  health.close()
  health.closeAllConnections()
  await worker.stop(config.stopWithinSeconds * 1_000)
})

function readPools(args: readonly string[]): WorkerPool[] {
  const names =
    args
      .find((arg) => arg.startsWith('--pools='))
      ?.slice('--pools='.length)
      .split(',') ?? []
  const unknown = names.filter((name) => !(workerPools as readonly string[]).includes(name))
  if (names.length === 0 || unknown.length > 0)
    throw new Error(`--pools= must name some of ${workerPools.join(', ')}, got ${names.join(', ') || 'nothing'}`)
  return names as WorkerPool[]
}
