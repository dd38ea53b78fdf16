import { chores } from '#shared/chores.ts'
import type { World } from '#test/support/world.ts'

/** Lets a chore of the house fall due now, and waits until it is done. */
export async function letChore(w: World, name: string): Promise<void> {
  if (!chores.some((chore) => chore.name === name)) throw new Error(`There is no chore ${name}`)
  await w.drain()
  const { rowCount } = await w.db.query(`update due_work set at = 'epoch' where kind = 'chore' and subject = $1`, [name])
  if (rowCount !== 1) throw new Error(`${name} never falls due`)
  await w.drain()
}
