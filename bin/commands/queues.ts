import { schema, t } from '#shared/kernel/schema.ts'
import { apiCommand } from '../command.ts'
import { runStation } from '../queues/scan.ts'

export const queueCommands = [
  apiCommand({
    name: 'scan',
    summary: 'A station of a work queue: reads keys line by line, as a scanner types them, and shows each verdict',
    options: schema(
      t.Object({
        queue: t.String({ description: 'key of the queue' }),
        to_stage: t.Optional(t.String({ description: 'where items go; to their next stage otherwise' })),
        station: t.Optional(t.String({ description: 'name of this station, for the history' })),
        journal: t.Optional(t.String({ description: 'file that keeps what could not be sent; below DATA_DIR otherwise' })),
        url: t.Optional(t.String({ description: 'base address of the API; KONTOR_URL, or the one that npm start left here' })),
        key: t.Optional(t.String({ description: 'access key; KONTOR_KEY, or the one that npm start left here' })),
        org: t.Optional(t.String({ description: 'id of the workspace; KONTOR_ORG, or the only one of the key' })),
      }),
    ),
    run: runStation,
  }),
]
