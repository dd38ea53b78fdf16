import { listPendingUpgrades } from '#shared/core/types/builtin/pending-upgrades.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'
import { command } from '../../command.ts'

export const upgradeCommands = [
  command({
    name: 'upgrades',
    summary: 'Show the workspaces that keep a field or type of their own where a release brings a built-in one',
    options: schema(t.Object({})),
    run: async (_options, platform) => {
      const upgrades = await listPendingUpgrades(platform.db)
      const lines = upgrades.map(
        ({ workspace_id, type, field, state, why }) => `${workspace_id}  ${field === null ? type : `${type}.${field}`}  ${state}  ${why}`,
      )
      return { data: { upgrades }, lines: lines.length > 0 ? lines : ['Every workspace has all built-in types and fields.'] }
    },
  }),
]
