import { schema, t } from '#shared/platform/kernel/schema.ts'
import { command } from '../command.ts'
import { statusSections } from '../status.ts'

export const statusCommands = [
  command({
    name: 'status',
    summary: 'Show the processes and what they run, migrations, database connections, store, mail, jobs, and what is above a limit',
    options: schema(t.Object({})),
    run: async (_options, platform) => {
      const sections = []
      for (const { key, title, find } of statusSections) sections.push({ key, title, found: await find(platform) })
      const lines = sections.flatMap(({ title, found }) => [
        `${title}: ${found.lines.length === 0 ? 'none' : ''}`.trim(),
        ...found.lines.map((line) => `  ${line}`),
      ])
      return { data: Object.fromEntries(sections.map(({ key, found }) => [key, found.data])), lines }
    },
  }),
]
