import { consolePage, formatTime, showConsole } from '#api/core/operators/console.ts'
import { page } from '#api/http/route.ts'
import { template } from '#api/pages/template.ts'
import { listOperators } from '#shared/core/operators/operators.ts'

const renderOperators = template<{
  readonly operators: Awaited<ReturnType<typeof listOperators>>
  readonly formatTime: (instant: string) => string
}>(new URL('operators.eta', import.meta.url))

export const operatorsPages = [
  page({
    ...consolePage,
    method: 'GET',
    path: '/operator/operators',
    summary: 'Show the operators',
    description: 'The command line adds and removes them.',
    example: { file: 'Operators' },
    handle: async (_, scope) => {
      const operators = await listOperators(scope.db)
      return showConsole(scope, { title: 'Operators', place: 'operators', content: renderOperators({ operators, formatTime }) })
    },
  }),
]
