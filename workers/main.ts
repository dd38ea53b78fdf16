import { createServer } from 'node:http'
import { answerHealth, checkReadiness } from '#shared/platform/db/health.ts'
import { type WorkerPool, workerPools } from '#shared/platform/jobs/job.ts'
import { stopOnSignal } from '#shared/platform/kernel/process/shutdown.ts'
import { startProcess } from '#shared/platform/kernel/process/start-process.ts'
import { startRefusal } from '#shared/platform/kernel/process/start-refusal.ts'
import { registry } from '#workers/metrics.ts'
import { startWorker } from '#workers/worker.ts'

/** The names of `--pools=functions,flows`, known or not. */
const named =
  process.argv
    .find((arg) => arg.startsWith('--pools='))
    ?.slice('--pools='.length)
    .split(',') ?? []

/** `bin/kontor worker --pools=functions,flows`: runs these pools until a stop signal. */
await startProcess(`worker ${named.join(',')}`, async (config, log) => {
  const chosen = requirePools(named)
  const worker = await startWorker(config, chosen, log)
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
})

function requirePools(names: readonly string[]): WorkerPool[] {
  const unknown = names.filter((name) => !(workerPools as readonly string[]).includes(name))
  if (names.length === 0 || unknown.length > 0)
    throw startRefusal(`--pools= must name some of ${workerPools.join(', ')}, got ${names.join(', ') || 'nothing'}`)
  return names as WorkerPool[]
}
