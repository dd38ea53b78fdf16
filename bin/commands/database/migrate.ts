import { schema, t } from '#shared/platform/kernel/schema.ts'
import { release } from '#shared/release.ts'
import { databaseCommand } from '../../command.ts'

export const migrateCommands = [
  databaseCommand({
    name: 'migrate',
    summary: 'Apply missing migrations',
    options: schema(t.Object({})),
    run: async (_, databaseUrl) => {
      const { applied, warnings } = await release(databaseUrl)
      const data = { migrated: true, applied, ...(warnings.length > 0 ? { warnings } : {}) }
      const sum = applied.length === 0 ? 'The database is up to date: nothing to apply.' : 'The database is up to date.'
      return {
        data,
        lines: [...applied.map((name) => `Applied ${name}`), ...warnings.map((warning) => `Warning: ${warning}`), sum],
      }
    },
  }),
]
