import { chores } from '#shared/chores.ts'
import type { World } from '#test/support/world.ts'

/** Lets a chore of the house fall due now, and waits until it is done. */
export async function letChore(w: World, name: string): Promise<void> {
  if (!chores.some((chore) => chore.name === name)) throw new Error(`There is no chore ${name}`)
  await w.drain()
  const { rowCount } = await w.db.query(`update due_work set at = 'epoch' where kind = 'chore' and subject = $1`, [name])
  if (rowCount !== 1) throw new Error(`${name} never falls due`)
  // Draining does not wait for chores, which fall due all the time: this one is filed once it has another time.
  const isFiled = async () =>
    (await w.db.query(`select from due_work where kind = 'chore' and subject = $1 and at > 'epoch'`, [name])).rowCount === 1
  while (!(await isFiled())) {
    w.worker.pools.pollAll()
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  await w.drain()
}
