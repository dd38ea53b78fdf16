import type { Group } from '#bench/case.ts'
import { pathOf } from '#bench/cases/core/records.ts'
import { get, nth, race, send } from '#bench/race.ts'
import { startServer } from '#bench/servers/start.ts'
import { startWorker } from '#bench/servers/worker.ts'

/** Clients at once: one sees what a single caller waits, many what the house gives. */
const clients = [1, 16]

/**
 * Request and reply through a worker: the export of a type that holds nothing, in one workspace after the other, against bare pg-boss whose
 * worker has nothing to do.
 */
export const jobs: Group = {
  name: 'jobs',
  cases: async (bench) => {
    const { neighbours } = bench.loaded
    const floorWorker = await startServer('bench/floor/worker.ts', bench.environment)
    bench.atEnd(floorWorker.stop)
    await startWorker(bench, 'data')
    const floor = send(
      'POST',
      () => '/jobs',
      () => ({}),
    )
    const kontor = get((index) => `${pathOf({ ...nth(neighbours, index), key: 'payments' })}/export`)
    return clients.map((connections) =>
      race(bench, { name: `request and reply, ${connections} at once`, floor, kontor, connections, aims: {} }),
    )
  },
}
