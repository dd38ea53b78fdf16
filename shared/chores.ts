import { peopleChores } from '#shared/core/people/maintenance.ts'
import { recordChores } from '#shared/core/records/maintenance.ts'
import type { Services } from '#shared/core/scope/scope.ts'
import { typeChores } from '#shared/core/types/maintenance.ts'
import { workspaceChores } from '#shared/core/workspaces/maintenance.ts'
import { calendarChores } from '#shared/features/calendar/maintenance.ts'
import { driveChores } from '#shared/features/drive/maintenance.ts'
import { flowChores } from '#shared/features/flows/maintenance.ts'
import { functionChores } from '#shared/features/functions/maintenance.ts'
import { blobChores } from '#shared/platform/blobs/maintenance.ts'
import { dbChores } from '#shared/platform/db/maintenance.ts'
import type { Sweeper } from '#shared/platform/db/old-rows.ts'
import { queueChores } from '#shared/platform/jobs/maintenance.ts'
import type { Chore } from '#shared/platform/kernel/maintenance-task.ts'
import { mailChores } from '#shared/platform/mail/maintenance.ts'

/** Everything that keeps house: what is removed when its time is over, and what is made good behind processes that died. */
export const chores: readonly Chore<Services & Sweeper>[] = [
  ...dbChores,
  ...blobChores,
  ...queueChores,
  ...mailChores,
  ...peopleChores,
  ...workspaceChores,
  ...typeChores,
  ...recordChores,
  ...driveChores,
  ...functionChores,
  ...flowChores,
  ...calendarChores,
]
