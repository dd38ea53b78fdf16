import { schema, t } from '#shared/kernel/schema.ts'
import { apiCommand } from '../command.ts'
import { runImport } from '../import/run-import.ts'

export const importCommands = [
  apiCommand({
    name: 'import',
    summary: 'Make a record type of a CSV file and import its rows through the API',
    options: schema(
      t.Object({
        file: t.String({ description: 'a CSV file with a header row' }),
        type: t.Optional(t.String({ description: 'key of the record type; made of the file name otherwise' })),
        dry_run: t.Optional(t.Boolean({ description: 'shows what would be made, and makes nothing' })),
        url: t.Optional(t.String({ description: 'base address of the API; KONTOR_URL, or the one that npm start left here' })),
        key: t.Optional(t.String({ description: 'access key; KONTOR_KEY, or the one that npm start left here' })),
        org: t.Optional(t.String({ description: 'id of the workspace; KONTOR_ORG, or the only one of the key' })),
      }),
    ),
    run: ({ dry_run: dryRun = false, ...options }, shell) => runImport({ dryRun, ...options }, shell),
  }),
]
