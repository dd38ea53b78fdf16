import { schema, t } from '#shared/platform/kernel/schema.ts'
import { release } from '#shared/release.ts'
import { databaseCommand } from '../../command.ts'

export const migrateCommands = [
  databaseCommand({
    name: 'migrate',
    summary: 'Apply missing migrations',
    options: schema(t.Object({})),
    run: async (_, databaseUrl) => {
      const warnings = await release(databaseUrl)
      const data = { migrated: true, ...(warnings.length > 0 ? { warnings } : {}) }
      return { data, lines: [...warnings.map((warning) => `Warning: ${warning}`), 'The database is up to date.'] }
    },
  }),
]
