import * as examples from '#api/features/sites/examples.ts'
import { byKey } from '#api/http/declaration.ts'
import { ids } from '#api/http/example-ids.ts'
import { answer, orgPath } from '#api/http/route.ts'
import { requirePermission } from '#shared/core/scope/access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { site, siteChange, siteInput, siteList } from '#shared/features/sites/schemas.ts'
import { changeSite, createSite, getSite, listSites, removeSite } from '#shared/features/sites/sites.ts'

const common = { tag: 'Websites', app: null, permission: 'content:manage', limit: null } as const
const all = `${orgPath}/sites` as const
const one = `${all}/:siteId` as const

/** Resolves the website of a route, on whose key the permission is checked. */
export const onSite = async ({ params }: { params: { siteId: string } }, scope: Scope) => byKey(await getSite(scope, params.siteId))

export const routes = [
  answer({
    ...common,
    method: 'GET',
    path: all,
    summary: 'List websites',
    description: 'Oldest first.',
    example: { answer: [examples.site] },
    perItem: true,
    status: 200,
    response: siteList,
    handle: (_, scope) => listSites(scope),
  }),
  answer({
    ...common,
    method: 'POST',
    path: all,
    summary: 'Create a website',
    description: 'Its content is not public before the website is published.',
    example: { body: { key: 'shop', name: 'Harbour Coffee', published: true }, answer: examples.site },
    onBody: async ({ body }) => body.key,
    fails: ['KEY_TAKEN'],
    body: siteInput,
    status: 201,
    response: site,
    handle: ({ body }, scope) => createSite(scope, body),
  }),
  answer({
    ...common,
    method: 'GET',
    path: one,
    summary: 'Get a website',
    description: 'Without its content, which has a route of its own.',
    example: { params: { siteId: ids.site }, answer: examples.site },
    on: onSite,
    status: 200,
    response: site,
    handle: async ({ resource }) => resource,
  }),
  answer({
    ...common,
    method: 'PATCH',
    path: one,
    summary: 'Change a website',
    description: 'Omitted properties stay unchanged. Visitors get NOT_FOUND for a website that is not published.',
    example: { params: { siteId: ids.site }, body: { name: 'Harbour Coffee shop' }, answer: examples.renamedSite },
    on: onSite,
    fails: ['KEY_TAKEN'],
    body: siteChange,
    stored: ({ resource }) => resource,
    status: 200,
    response: site,
    handle: ({ resource, body }, scope) => {
      if (body.key !== undefined) requirePermission(scope, 'content:manage', body.key)
      return changeSite(scope, resource.id, body)
    },
  }),
  answer({
    ...common,
    method: 'DELETE',
    path: one,
    summary: 'Delete a website with its content',
    description: 'Cannot be undone.',
    example: { params: { siteId: ids.site } },
    on: onSite,
    status: 204,
    response: null,
    handle: ({ resource }, scope) => removeSite(scope, resource.id),
  }),
]
