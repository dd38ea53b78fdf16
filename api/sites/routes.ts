import { answer, org } from '#api/http/route.ts'
import { requirePermission } from '#shared/scope/access.ts'
import type { Scope } from '#shared/scope/scope.ts'
import { site, siteChange, siteInput, siteList } from '#shared/sites/site.ts'
import { changeSite, createSite, getSite, listSites, removeSite } from '#shared/sites/sites.ts'

const common = { tag: 'Websites', app: null, permission: 'content:manage', limit: null } as const
const all = `${org}/sites` as const
const one = `${all}/:siteId` as const

/** The permission is asked for the key of the website. */
const onSite = async ({ params }: { params: { siteId: string } }, scope: Scope) => (await getSite(scope, params.siteId)).key

export const routes = [
  answer({
    ...common,
    method: 'GET',
    path: all,
    summary: 'List websites',
    description: 'Oldest first.',
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
    description: 'Nothing of it is public before it is published.',
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
    description: 'Its content is listed by a route of its own.',
    on: onSite,
    status: 200,
    response: site,
    handle: ({ params }, scope) => getSite(scope, params.siteId),
  }),
  answer({
    ...common,
    method: 'PATCH',
    path: one,
    summary: 'Change a website',
    description: 'What is left out stays. One that is not published is NOT_FOUND for visitors.',
    on: onSite,
    fails: ['KEY_TAKEN'],
    body: siteChange,
    stored: ({ params }, scope) => getSite(scope, params.siteId),
    status: 200,
    response: site,
    handle: ({ params, body }, scope) => {
      if (body.key !== undefined) requirePermission(scope, 'content:manage', body.key)
      return changeSite(scope, params.siteId, body)
    },
  }),
  answer({
    ...common,
    method: 'DELETE',
    path: one,
    summary: 'Delete a website with all that stands in it',
    description: 'For good.',
    on: onSite,
    status: 204,
    response: null,
    handle: ({ params }, scope) => removeSite(scope, params.siteId),
  }),
]
