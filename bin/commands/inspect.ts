import { schema, t } from '#shared/platform/kernel/schema.ts'
import { apiCommand, command } from '../command.ts'
import { formatTable } from '../table.ts'
import { traceRequest } from '../trace/steps.ts'

// The API and the console are loaded by the commands that need them: all others would take longer to start.

export const inspectCommands = [
  command({
    name: 'trace',
    summary: 'Show everything that a request caused, in order of time',
    options: schema(t.Object({ request_id: t.String({ description: 'request_id of an answer, or its header X-Request-ID' }) })),
    run: async ({ request_id }, { db }) => {
      const steps = await traceRequest(db, request_id)
      const rows = steps.map(({ at, what, name, state, id, detail }) => [at, what, name, state, id, detail])
      const table = formatTable([['at', 'what', 'name', 'state', 'id', 'detail'], ...rows])
      if (steps.length === 0)
        return { data: { steps }, lines: ['0 steps: the request changed nothing, is too old, or there was none of this id'] }
      return { data: { steps }, lines: [...table, '', `${rows.length} steps`] }
    },
  }),
  apiCommand({
    name: 'console',
    summary: 'Open a REPL with everything loaded; .manual lists what it has',
    options: schema(
      t.Object({
        org: t.Optional(t.String({ description: 'name or id of a workspace' })),
        who: t.Optional(t.String({ description: 'address, name or id of the caller; default: the owner' })),
      }),
    ),
    run: async ({ org, who }, { environment }) => {
      const { openConsole } = await import('../console/open-console.ts')
      await openConsole(environment, org, who)
      return { data: {}, lines: [] }
    },
  }),
  apiCommand({
    name: 'routes',
    summary: 'Show the routes whose line holds all words: permission, app, rate limit, job',
    options: schema(t.Object({ words: t.Optional(t.Array(t.String(), { description: 'such as: post queues' })) })),
    run: async ({ words = [] }) => {
      const { listRoutes } = await import('../routes.ts')
      const routes = listRoutes(words)
      return {
        data: { routes },
        lines: [
          ...formatTable([Object.keys(routes[0] ?? {}), ...routes.map((route) => Object.values(route))]),
          '',
          `${routes.length} routes`,
        ],
      }
    },
  }),
]
