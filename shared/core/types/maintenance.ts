import type { Services } from '#shared/core/scope/scope.ts'
import { upgradeWorkspaces } from '#shared/core/types/builtin/upgrade.ts'
import { dropRarePairs, maintainIndexes } from '#shared/core/types/indexes/maintain-indexes.ts'
import { type CleanupServices, defineCleanup } from '#shared/platform/db/old-rows.ts'
import type { MaintenanceTask } from '#shared/platform/kernel/maintenance-task.ts'

const indexMaintenance: MaintenanceTask<Services & CleanupServices> = {
  name: 'indexes that follow use',
  everySeconds: 10,
  run: async (services, signal) => void (await maintainIndexes(services, signal)),
}

const pairCleanup: MaintenanceTask<Services & CleanupServices> = {
  name: 'rare pairs of fields',
  everySeconds: 60,
  run: dropRarePairs,
}

const builtinTypeUpgrade: MaintenanceTask<Services & CleanupServices> = {
  name: 'built-in types',
  everySeconds: 20,
  run: (services, signal) => upgradeWorkspaces(services, signal),
}

/** Maintenance tasks: upgrade of built-in types, indexes by use, cleanup of old use counts and of rare pairs. */
export const typeMaintenance = [
  indexMaintenance,
  pairCleanup,
  builtinTypeUpgrade,
  defineCleanup('sweep_field_uses', { table: 'field_uses', old: 'used_at < $before', by: 'used_at', keptDays: 90, everyMinutes: 24 * 60 }),
]
