import { followEvents } from '#shared/core/events/follow-events.ts'
import type { WorkspaceEvent } from '#shared/core/events/schemas.ts'
import { eventFamilies } from '#shared/features.ts'
import { hidden } from '#shared/platform/jobs/operator/find-jobs.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'
import { apiCommand, apiOptions, command } from '../command.ts'
import { formatTable } from '../table.ts'
import { traceRequest } from '../trace/steps.ts'
import { listenForEvents } from '../webhooks/listen.ts'
import { workspaceScope } from '../workspaces.ts'

// The API and the console are loaded by the commands that need them: all others would take longer to start.

/** The event as operators see it: without values of records and titles of calendar events, which are the workspace's own. */
function withoutContent({ data, ...event }: WorkspaceEvent): WorkspaceEvent {
  if (event.type.startsWith('calendar.') && data.title !== undefined) return { ...event, data: { ...data, title: hidden } }
  if (!event.type.startsWith('records.')) return { ...event, data }
  return { ...event, data: { ...data, before: hideValues(data.before), after: hideValues(data.after) } }
}

const hideValues = (values: unknown): unknown => values && Object.fromEntries(Object.keys(values).map((key) => [key, hidden]))

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
  command({
    name: 'events tail',
    summary: 'Print the events of a workspace, one as JSON in each line, until it is interrupted; without values of records and titles',
    options: schema(
      t.Object({
        workspace: t.String({ description: 'id or name of the workspace' }),
        after: t.Optional(
          t.String({
            description: 'seq of an event, or next_after of GET /events: begins with the event after it; default: with the next one',
          }),
        ),
        types: t.Optional(t.String({ description: 'such as records.*,types.changed; default: all' })),
      }),
    ),
    run: async ({ workspace, after, types }, platform, { interruption, printResult }) => {
      const signal = interruption()
      const scope = await workspaceScope(platform, workspace)
      await followEvents(scope, eventFamilies, { after, types }, signal, (events) => printResult(events.map(withoutContent)))
      return { data: undefined, lines: [] }
    },
  }),
  apiCommand({
    name: 'webhooks listen',
    summary: 'Send the events of a workspace to an address of this machine as they happen, signed as webhooks are, until it is interrupted',
    options: schema(
      t.Object({
        forward: t.String({ description: 'address of the receiver, such as http://localhost:4000/hooks' }),
        types: t.Optional(t.String({ description: 'such as records.*,types.changed; default: all' })),
        ...apiOptions,
      }),
    ),
    run: async (options, shell) => {
      await listenForEvents(options, shell)
      return { data: undefined, lines: [] }
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
