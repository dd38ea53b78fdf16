import { deleteLeftObjects, deleteLeftShares, deleteLeftSpaces } from '#shared/features/drive/store.ts'
import type { CleanupServices } from '#shared/platform/db/old-rows.ts'
import type { MaintenanceTask } from '#shared/platform/kernel/maintenance-task.ts'
import { dayMs } from '#shared/platform/kernel/time/units.ts'

/** How long the drive and shares of a member who left are kept for a return (docs/contract/drive.md#members-who-leave). */
const keptMs = 30 * dayMs

/** Rows per delete statement. */
const rowsPerStatement = 1_000

/** Deletes the drives and shares of members who left more than 30 days ago. */
export const driveMaintenance: readonly MaintenanceTask<CleanupServices>[] = [
  {
    name: 'drives of members who left',
    everySeconds: 3_600,
    run: async (sweeper, signal) => {
      const { db } = sweeper
      const leftBefore = new Date(sweeper.now().getTime() - keptMs)
      for (let deleted = rowsPerStatement; deleted === rowsPerStatement; ) {
        signal.throwIfAborted()
        deleted = (await db.query(deleteLeftObjects({ leftBefore, limit: rowsPerStatement })))[0]?.count ?? 0
      }
      await db.query(deleteLeftSpaces({ leftBefore }))
      await db.query(deleteLeftShares({ leftBefore }))
    },
  },
]
