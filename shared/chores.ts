import { blobChores } from '#shared/blobs/chores.ts'
import { calendarChores } from '#shared/calendar/chores.ts'
import { dbChores } from '#shared/db/chores.ts'
import type { Sweeper } from '#shared/db/old-rows.ts'
import { driveChores } from '#shared/drive/chores.ts'
import { flowChores } from '#shared/flows/chores.ts'
import { functionChores } from '#shared/functions/chores.ts'
import type { Chore } from '#shared/kernel/chore.ts'
import { mailChores } from '#shared/mail/chores.ts'
import { peopleChores } from '#shared/people/chores.ts'
import { queueChores } from '#shared/queue/chores.ts'
import { recordChores } from '#shared/records/chores.ts'
import type { Services } from '#shared/scope/scope.ts'
import { typeChores } from '#shared/types/chores.ts'
import { workspaceChores } from '#shared/workspaces/chores.ts'

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
