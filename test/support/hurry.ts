import { eventually } from '#test/support/eventually.ts'
import { retryJobsNow } from '#test/support/rows.ts'
import type { World } from '#test/support/world.ts'

/** Gives every job that waits for its next attempt that attempt now, until the operation has ended. Returns its status. */
export async function hurry(w: World, id: string): Promise<string> {
  return eventually(async () => {
    await retryJobsNow(w.db)
    w.worker.pools.pollAll()
    const { rows } = await w.db.query<{ status: string }>('select status from operations where id = $1 and finished_at is not null', [id])
    return rows[0]?.status
  })
}
