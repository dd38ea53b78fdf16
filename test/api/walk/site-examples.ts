import { ids } from '#api/http/example-ids.ts'
import type { Call, Walked, WalkedRoutes } from '#test/api/walk/example.ts'
import type { Place } from '#test/support/things.ts'

const sites = '/v1/orgs/:orgId/sites'
const one = `${sites}/:siteId`
const content = `${one}/content`
const assets = '/v1/orgs/:orgId/assets'

/** The website is made before the permission is asked for its key, so the call carries both. */
const keys = new Map<string, string>()
async function aSite({ things }: Place) {
  const { id, key } = await things.site()
  keys.set(id, key)
  return { [ids.site]: id }
}
const ofSite: Walked = { needs: 'content:manage', on: ({ params }: Call) => keys.get(params?.siteId ?? '') ?? '', things: aSite }
const ofDocument: Walked = {
  ...ofSite,
  things: async (place) => {
    const site = await aSite(place)
    return { ...site, 'guides/brewing': await place.things.document(site[ids.site]) }
  },
}

const ofAssets: Walked = { needs: 'content:manage', on: () => 'assets' }
const ofAsset: Walked = { ...ofAssets, things: async ({ things }) => ({ 'notes/hours.txt': await things.asset() }) }

/** Websites, their content and their public addresses. */
export const siteExamples: WalkedRoutes = {
  [`GET ${sites}`]: { needs: 'content:manage', perItem: true },
  [`POST ${sites}`]: {
    needs: 'content:manage',
    on: ({ body }) => (body as { key: string }).key,
    keyInside: true,
    things: ({ things }) => ({ shop: things.name() }),
  },
  [`GET ${one}`]: ofSite,
  [`PATCH ${one}`]: ofSite,
  [`DELETE ${one}`]: ofSite,
  [`GET ${content}`]: { ...ofSite, badQuery: 'limit=0' },
  [`GET ${content}/*path`]: ofDocument,
  [`PUT ${content}/*path`]: {
    ...ofSite,
    makesNamed: true,
    things: async (place) => ({ ...(await aSite(place)), 'guides/brewing': `guides/${place.things.name()}` }),
  },
  [`DELETE ${content}/*path`]: ofDocument,
  [`GET ${assets}`]: { ...ofAssets, badQuery: 'limit=1001' },
  [`GET ${assets}/*path`]: ofAsset,
  [`PUT ${assets}/*path`]: {
    ...ofAssets,
    makesNamed: true,
    anyBody: true,
    things: ({ things }) => ({ 'notes/hours.txt': `notes/${things.name()}` }),
  },
  [`DELETE ${assets}/*path`]: ofAsset,
  'GET /logo/:orgId': {
    needs: 'public',
    things: async ({ things }) => {
      await things.logo()
      return {}
    },
  },
  'GET /content/:orgId/:siteKey{/*path}': {
    needs: 'public',
    things: async ({ things }) => {
      await things.visitors()
      const { id, key } = await things.site()
      return { shop: key, 'guides/brewing': await things.document(id) }
    },
  },
}
