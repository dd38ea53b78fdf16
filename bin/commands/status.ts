import { schema, t } from '#shared/platform/kernel/schema.ts'
import { command } from '../command.ts'
import { statusSections } from '../status.ts'

export const statusCommands = [
  command({
    name: 'status',
    summary: 'Show what somebody has to look at, such as what is larger than a limit allows',
    options: schema(t.Object({})),
    run: async (_options, platform) => {
      const sections = []
      for (const { key, title, find } of statusSections) sections.push({ key, title, found: await find(platform) })
      const lines = sections.flatMap(({ title, found }) => [
        `${title}: ${found.length === 0 ? 'none' : ''}`.trim(),
        ...found.map((line) => `  ${line}`),
      ])
      return { data: Object.fromEntries(sections.map(({ key, found }) => [key, found])), lines }
    },
  }),
]
