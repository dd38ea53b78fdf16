import type { Group, Side } from '#bench/case.ts'
import { sender } from '#bench/client.ts'
import { makeRule } from '#bench/data/rule.ts'
import { queueName } from '#bench/floor/queue.ts'
import { forgetNotifications, putChanges } from '#bench/jobs/changes.ts'
import { openDatabase } from '#bench/jobs/database.ts'
import { drained, forget, putEmpty } from '#bench/jobs/drain.ts'
import { whileRunning } from '#bench/servers/start.ts'
import { deliverNotificationsJob } from '#shared/core/notifications/jobs.ts'

const count = 10_000

/** A worker starts on many small waiting jobs: notifications of single changes, each dispatched and delivered, compared with empty jobs. */
export const drain: Group = {
  name: 'drain',
  cases: async (bench) => {
    const db = openDatabase(bench)
    const [type] = bench.loaded.neighbours
    await makeRule(sender(bench.kontorUrl, { ...bench.loaded, workspaceId: type.workspaceId }), type.key)
    const floor = async (): Promise<Side> => {
      await putEmpty(db, queueName, count)
      return { amount: await doneBy('bench/floor/worker.ts', [], queueName) }
    }
    const kontor = async (): Promise<Side> => {
      await forget(db, deliverNotificationsJob.name)
      await forgetNotifications(db, type)
      await putChanges(db, type, count)
      return { amount: await doneBy('worker', ['--pools=flows,data'], deliverNotificationsJob.name) }
    }
    const doneBy = (program: string, args: readonly string[], queue: string): Promise<number> =>
      whileRunning(() => drained(db, queue, count), program, bench.environment, args)
    return [{ name: `${count.toLocaleString('en')} small jobs`, unit: 'jobs/s', floor, kontor }]
  },
}
