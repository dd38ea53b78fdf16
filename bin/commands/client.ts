import { schema, t } from '#shared/platform/kernel/schema.ts'
import { findTarget } from '../client/target.ts'
import { apiCommand, apiOptions } from '../command.ts'
import { writeClient } from '../typed-client/write-client.ts'

export const clientCommands = [
  apiCommand({
    name: 'client',
    summary: 'Write a TypeScript client of a workspace with its record types and fields',
    options: schema(t.Object({ out: t.String({ description: 'the file to write, such as kontor.ts' }), ...apiOptions })),
    run: async ({ out, ...options }, { environment }) => {
      const types = await writeClient(await findTarget(options, environment), out)
      return {
        data: { file: out, types },
        lines: [`${out} is written, with ${types.length} record types. It needs openapi-fetch: npm install openapi-fetch`],
      }
    },
  }),
]
