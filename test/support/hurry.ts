import { setTimeout } from 'node:timers/promises'
import type { World } from '#test/support/world.ts'

/** Lets every job that waits for its next attempt have it now, until the operation has settled. */
export async function hurry(w: World, id: string): Promise<string> {
  for (;;) {
    await w.db.query(`update pgboss.job set start_after = now() where state = 'retry'`)
    w.worker.pools.pollAll()
    const { rows } = await w.db.query('select status from operations where id = $1 and finished_at is not null', [id])
    if (rows[0]) return rows[0].status
    await setTimeout(20)
  }
}
