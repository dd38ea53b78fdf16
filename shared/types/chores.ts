import { oldRows, type Sweeper } from '#shared/db/old-rows.ts'
import type { Chore } from '#shared/kernel/chore.ts'
import type { Services } from '#shared/scope/scope.ts'
import { followUse } from '#shared/types/indexes/follow.ts'
import { upgradeWorkspaces } from '#shared/types/upgrade.ts'

const indexesFollowUse: Chore<Services & Sweeper> = {
  name: 'indexes that follow use',
  everySeconds: 10,
  run: async (services, signal) => void (await followUse(services, signal)),
}

const builtinTypes: Chore<Services & Sweeper> = {
  name: 'built-in types',
  everySeconds: 20,
  run: (services, signal) => upgradeWorkspaces(services, signal),
}

/** What keeps types in step with the release, and their indexes with how they are used. */
export const typeChores = [
  indexesFollowUse,
  builtinTypes,
  oldRows('sweep_field_uses', { table: 'field_uses', old: 'used_at < $1', by: 'used_at', keptDays: 90, everyMinutes: 24 * 60 }),
]
