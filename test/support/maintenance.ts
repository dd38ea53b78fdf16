import { maintenance } from '#shared/features.ts'
import { eventually } from '#test/support/eventually.ts'
import type { World } from '#test/support/world.ts'

/** Makes a maintenance task due now, and waits until it has run. */
export async function runMaintenanceTask(w: World, name: string): Promise<void> {
  if (!maintenance.some((task) => task.name === name)) throw new Error(`There is no maintenance task ${name}`)
  await w.drain()
  const { rowCount } = await w.db.query(`update due_work set at = 'epoch' where kind = 'maintenance' and subject = $1`, [name])
  if (rowCount !== 1) throw new Error(`${name} has no due time`)
  // Draining does not wait for maintenance tasks, which recur: the task was enqueued once it has another time.
  const isEnqueued = async () =>
    (await w.db.query(`select from due_work where kind = 'maintenance' and subject = $1 and at > 'epoch'`, [name])).rowCount === 1
  await eventually(() => {
    w.worker.pools.pollAll()
    return isEnqueued()
  })
  await w.drain()
}
