import { schema, t } from '#shared/platform/kernel/schema.ts'
import { command } from '../command.ts'
import { createDemo } from '../demo.ts'

export const bootstrapCommands = [
  command({
    name: 'bootstrap',
    summary: 'Create the workspace Demo, its owner and a key, if there is no workspace yet',
    options: schema(t.Object({})),
    secrets: true,
    run: async (_, platform) => {
      const file = await createDemo(platform)
      return {
        data: { made: file !== null, file },
        lines: [
          file === null ? 'There is a workspace already: nothing to do.' : `Created the workspace Demo; its owner and key are in ${file}`,
        ],
      }
    },
  }),
]
