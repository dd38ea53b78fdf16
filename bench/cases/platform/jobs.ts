import type { Group } from '#bench/case.ts'
import { pathOf } from '#bench/cases/core/records.ts'
import { get, nth, race, send } from '#bench/race.ts'
import { startServer } from '#bench/servers/start.ts'
import { startWorker } from '#bench/servers/worker.ts'

/** Numbers of concurrent clients: one shows the latency of a single caller, many show the throughput. */
const clients = [1, 16]

/**
 * Request and reply through a worker: exports of an empty type in alternating workspaces, compared with bare pg-boss and an idle worker.
 */
export const jobs: Group = {
  name: 'jobs',
  cases: async (bench) => {
    const { neighbours } = bench.loaded
    const floorWorker = await startServer('bench/floor/worker.ts', bench.environment)
    bench.atEnd(floorWorker.stop)
    await startWorker(bench, 'data')
    const floor = send('POST', () => '/jobs')
    const kontor = get((index) => `${pathOf({ ...nth(neighbours, index), key: 'payments' })}/export`)
    return clients.map((connections) =>
      race(bench, { name: `request and reply, ${connections} at once`, floor, kontor, connections, aims: {} }),
    )
  },
}
