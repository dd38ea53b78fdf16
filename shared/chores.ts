import { peopleMaintenance } from '#shared/core/people/maintenance.ts'
import { recordMaintenance } from '#shared/core/records/maintenance.ts'
import type { Services } from '#shared/core/scope/scope.ts'
import { typeMaintenance } from '#shared/core/types/maintenance.ts'
import { workspaceMaintenance } from '#shared/core/workspaces/maintenance.ts'
import { calendarMaintenance } from '#shared/features/calendar/maintenance.ts'
import { driveMaintenance } from '#shared/features/drive/maintenance.ts'
import { flowMaintenance } from '#shared/features/flows/maintenance.ts'
import { functionMaintenance } from '#shared/features/functions/maintenance.ts'
import { blobMaintenance } from '#shared/platform/blobs/maintenance.ts'
import { databaseMaintenance } from '#shared/platform/db/maintenance.ts'
import type { CleanupServices } from '#shared/platform/db/old-rows.ts'
import { jobMaintenance } from '#shared/platform/jobs/maintenance.ts'
import type { MaintenanceTask } from '#shared/platform/kernel/maintenance-task.ts'
import { mailMaintenance } from '#shared/platform/mail/maintenance.ts'

/** All maintenance tasks: clean-ups of old data and repairs after processes that died. */
export const chores: readonly MaintenanceTask<Services & CleanupServices>[] = [
  ...databaseMaintenance,
  ...blobMaintenance,
  ...jobMaintenance,
  ...mailMaintenance,
  ...peopleMaintenance,
  ...workspaceMaintenance,
  ...typeMaintenance,
  ...recordMaintenance,
  ...driveMaintenance,
  ...functionMaintenance,
  ...flowMaintenance,
  ...calendarMaintenance,
]
