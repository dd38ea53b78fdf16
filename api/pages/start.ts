import { page } from '#api/http/route.ts'
import { template } from '#api/pages/template.ts'

const body = template(new URL('start.eta', import.meta.url))

/** What stands at the public address itself. */
export const routes = [
  page({
    method: 'GET',
    path: '/',
    summary: 'The page that names the product',
    description: 'It links to the reference.',
    tag: 'Pages',
    app: null,
    permission: 'public',
    limit: null,
    framed: 'none',
    handle: async () => ({ title: 'Kontor', body: body({}) }),
  }),
]
