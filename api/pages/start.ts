import { page } from '#api/http/route.ts'
import { template } from '#api/pages/template.ts'

const renderBody = template(new URL('start.eta', import.meta.url))

/** The page at the public URL. */
export const routes = [
  page({
    method: 'GET',
    path: '/',
    summary: 'Show the start page',
    description: 'Names the product and links to the guide and the reference.',
    example: { file: 'Kontor' },
    tag: 'Pages',
    app: null,
    permission: 'public',
    limit: 'content',
    framed: 'none',
    handle: async () => ({ title: 'Kontor', body: renderBody({}) }),
  }),
]
