import { consoleAddress } from '#api/access/operator-session.ts'
import { consolePage, formatTime, showConsole } from '#api/core/operators/console.ts'
import { page } from '#api/http/route.ts'
import { template } from '#api/pages/template.ts'
import { listActions } from '#shared/core/operators/log.ts'
import { type ActionPage, actionsQuery } from '#shared/core/operators/schemas.ts'

type Entry = ActionPage['entries'][number] & { readonly about: readonly (readonly [name: string, value: string])[] }

const renderLog = template<{
  readonly entries: readonly Entry[]
  readonly isFirst: boolean
  readonly older: string
  readonly formatTime: (instant: string) => string
}>(new URL('log.eta', import.meta.url))

export const logPages = [
  page({
    ...consolePage,
    method: 'GET',
    path: '/operator/log',
    summary: 'Show what operators did',
    description: 'Newest first, with a link to older entries.',
    example: { file: 'Log' },
    query: actionsQuery,
    handle: async ({ query }, scope) => {
      const { entries, next_cursor } = await listActions(scope, query)
      const content = renderLog({
        entries: entries.map((entry) => ({ ...entry, about: Object.entries(entry.subject).map(([name, value]) => [name, textOf(value)]) })),
        isFirst: query.cursor === undefined,
        older: next_cursor === null ? '' : consoleAddress(scope.config, `log?cursor=${next_cursor}`),
        formatTime,
      })
      return showConsole(scope, { title: 'Log', place: 'log', content })
    },
  }),
]

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
