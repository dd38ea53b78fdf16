import { oldRows, type Sweeper } from '#shared/db/old-rows.ts'
import type { Chore } from '#shared/kernel/chore.ts'
import type { Services } from '#shared/scope/scope.ts'
import { followUse } from '#shared/types/indexes/follow.ts'

const indexesFollowUse: Chore<Services & Sweeper> = {
  name: 'indexes that follow use',
  everySeconds: 10,
  run: async (services, signal) => void (await followUse(services, signal)),
}

/** What keeps the indexes of types in step with how they are used. */
export const typeChores = [
  indexesFollowUse,
  oldRows('sweep_field_uses', { table: 'field_uses', old: 'used_at < $1', by: 'used_at', keptDays: 90, everyMinutes: 24 * 60 }),
]
