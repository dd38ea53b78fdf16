import { schema, t } from '#shared/platform/kernel/schema.ts'
import { apiCommand, apiOptions } from '../command.ts'
import { runStation } from '../queues/run-station.ts'

export const queueCommands = [
  apiCommand({
    name: 'scan',
    summary: 'Scan keys at a station of a work queue, line by line as a scanner types them, and show each verdict',
    options: schema(
      t.Object({
        queue: t.String({ description: 'key of the queue' }),
        to_stage: t.Optional(t.String({ description: 'where items go; to their next stage otherwise' })),
        station: t.Optional(t.String({ description: 'name of this station, for the history' })),
        journal: t.Optional(t.String({ description: 'file for scans that could not be sent; default: a file below DATA_DIR' })),
        ...apiOptions,
      }),
    ),
    run: runStation,
  }),
]
