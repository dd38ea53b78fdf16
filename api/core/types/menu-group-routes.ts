import * as examples from '#api/core/types/examples.ts'
import { Replaced } from '#api/http/reply/reply.ts'
import { answer, orgPath } from '#api/http/route.ts'
import { deleteModule, listModules, saveModule } from '#shared/core/types/types/menu-groups.ts'
import { moduleInput, moduleView } from '#shared/core/types/types/menu-groups-schemas.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

const common = { tag: 'Menu groups', app: null, limit: null } as const
const collectionPath = `${orgPath}/modules` as const

export const routes = [
  answer({
    ...common,
    method: 'GET',
    path: collectionPath,
    summary: 'List menu groups',
    description: 'By position, then by slug.',
    example: { answer: [examples.sales] },
    permission: 'member',
    status: 200,
    response: schema(t.Array(moduleView.json)),
    handle: (_request, scope) => listModules(scope),
  }),
  answer({
    ...common,
    method: 'POST',
    path: collectionPath,
    summary: 'Create or change a menu group',
    description: 'Changes the group that has the slug, if it exists: omitted properties stay unchanged; null clears an optional one.',
    example: { body: { slug: 'sales', name: 'Sales', glyph: '🛒', category: 'Business', position: 1 }, answer: examples.sales },
    permission: 'org:update',
    body: moduleInput,
    status: 201,
    replaces: true,
    response: moduleView,
    handle: async ({ body }, scope) => {
      const { module, created } = await saveModule(scope, body)
      return created ? module : new Replaced(module)
    },
  }),
  answer({
    ...common,
    method: 'DELETE',
    path: `${collectionPath}/:slug`,
    summary: 'Delete a menu group',
    description: 'Types that name the group stay.',
    example: { params: { slug: 'sales' } },
    permission: 'org:update',
    status: 204,
    response: null,
    handle: ({ params }, scope) => deleteModule(scope, params.slug),
  }),
]
