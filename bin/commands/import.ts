import { problem } from '#shared/platform/kernel/errors.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'
import { apiCommand, apiOptions } from '../command.ts'
import { runImport } from '../import/run-import.ts'
import { importItems } from '../queues/import-items.ts'

export const importCommands = [
  apiCommand({
    name: 'import',
    summary: 'Make a record type of a CSV file and import its rows through the API',
    options: schema(
      t.Object({
        file: t.String({ description: 'a CSV file with a header row' }),
        type: t.Optional(t.String({ description: 'key of the record type; made of the file name otherwise' })),
        queue: t.Optional(t.String({ description: 'key of a work queue that the rows fill as items, instead of a record type' })),
        batch: t.Optional(t.String({ description: 'with --queue: label of the items' })),
        dry_run: t.Optional(t.Boolean({ description: 'shows what would be made, and makes nothing' })),
        ...apiOptions,
      }),
    ),
    run: ({ dry_run: dryRun = false, queue, batch, type, ...options }, shell) => {
      if (queue === undefined) return runImport({ dryRun, type, ...options }, shell)
      if (dryRun || type !== undefined) throw problem('VALIDATION_ERROR', '--queue goes with neither --type nor --dry-run')
      return importItems({ queue, batch, ...options }, shell)
    },
  }),
]
