import { schema, t } from '#shared/platform/kernel/schema.ts'
import { release } from '#shared/release.ts'
import { databaseCommand } from '../command.ts'

export const migrateCommands = [
  databaseCommand({
    name: 'migrate',
    summary: 'Apply missing migrations',
    options: schema(t.Object({})),
    run: async (_, databaseUrl) => {
      await release(databaseUrl)
      return { data: { migrated: true }, lines: ['The database is up to date.'] }
    },
  }),
]
