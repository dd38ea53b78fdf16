import type { Services } from '#shared/core/scope/scope.ts'
import { upgradeWorkspaces } from '#shared/core/types/builtin/upgrade.ts'
import { followUse } from '#shared/core/types/indexes/maintain-indexes.ts'
import { oldRows, type Sweeper } from '#shared/platform/db/old-rows.ts'
import type { Chore } from '#shared/platform/kernel/maintenance-task.ts'

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
