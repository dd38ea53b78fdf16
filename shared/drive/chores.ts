import type { Sweeper } from '#shared/db/old-rows.ts'
import { deleteLeftObjects, deleteLeftShares, deleteLeftSpaces } from '#shared/drive/store/left.ts'
import type { Chore } from '#shared/kernel/chore.ts'

/** For so long a member who has left finds drive and shares again by returning (decisions, People, keys, workspaces). */
const keptMs = 30 * 86_400_000

/** Rows that one statement deletes. */
const batch = 1_000

/** Deletes the drives of members who have left for good. */
export const driveChores: readonly Chore<Sweeper>[] = [
  {
    name: 'drives of members who left',
    everySeconds: 3_600,
    run: async (sweeper, signal) => {
      const { db } = sweeper
      const before = new Date(sweeper.now().getTime() - keptMs)
      for (let gone = batch; gone === batch; ) {
        signal.throwIfAborted()
        gone = (await db.query<{ count: number }>(deleteLeftObjects(before, batch)))[0]?.count ?? 0
      }
      await db.query(deleteLeftSpaces(before))
      await db.query(deleteLeftShares(before))
    },
  },
]
