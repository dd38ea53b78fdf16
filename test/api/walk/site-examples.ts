import type { Call, Example, Examples } from '#test/api/walk/example.ts'
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
  return { siteId: id }
}
const ofSite: Pick<Example, 'needs' | 'on'> = { needs: 'content:manage', on: ({ params }: Call) => keys.get(params?.siteId ?? '') ?? '' }
const ofAssets: Pick<Example, 'needs' | 'on'> = { needs: 'content:manage', on: () => 'assets' }

const text = { body: 'Hello', type: 'text/plain' }

/** Websites, their content and their public addresses. */
export const siteExamples: Examples = {
  [`GET ${sites}`]: { needs: 'content:manage', perItem: true, call: () => ({}) },
  [`POST ${sites}`]: {
    needs: 'content:manage',
    on: ({ body }) => (body as { key: string }).key,
    keyInside: true,
    call: ({ things }) => ({ body: { key: things.name(), name: 'Made' } }),
  },
  [`GET ${one}`]: { ...ofSite, call: async (place) => ({ params: await aSite(place) }) },
  [`PATCH ${one}`]: { ...ofSite, call: async (place) => ({ params: await aSite(place), body: { name: 'Other' } }) },
  [`DELETE ${one}`]: { ...ofSite, call: async (place) => ({ params: await aSite(place) }) },
  [`GET ${content}`]: { ...ofSite, badQuery: 'limit=0', call: async (place) => ({ params: await aSite(place) }) },
  [`GET ${content}/*path`]: {
    ...ofSite,
    call: async (place) => {
      const params = await aSite(place)
      return { params: { ...params, path: await place.things.document(params.siteId) } }
    },
  },
  [`PUT ${content}/*path`]: {
    ...ofSite,
    makesNamed: true,
    call: async (place) => ({ params: { ...(await aSite(place)), path: `a/${place.things.name()}` }, body: { title: 'New' } }),
  },
  [`DELETE ${content}/*path`]: {
    ...ofSite,
    call: async (place) => {
      const params = await aSite(place)
      return { params: { ...params, path: await place.things.document(params.siteId) } }
    },
  },
  [`GET ${assets}`]: { ...ofAssets, badQuery: 'limit=1001', call: () => ({}) },
  [`GET ${assets}/*path`]: { ...ofAssets, call: async ({ things }) => ({ params: { path: await things.asset() } }) },
  [`PUT ${assets}/*path`]: {
    ...ofAssets,
    makesNamed: true,
    anyBody: true,
    call: ({ things }) => ({ params: { path: `a/${things.name()}` }, ...text }),
  },
  [`DELETE ${assets}/*path`]: { ...ofAssets, call: async ({ things }) => ({ params: { path: await things.asset() } }) },
  'GET /logo/:orgId': {
    needs: 'public',
    call: async ({ things }) => {
      await things.logo()
      return {}
    },
  },
  'GET /content/:orgId/:siteKey{/*path}': {
    needs: 'public',
    call: async ({ things }) => {
      await things.visitors()
      const { id, key } = await things.site()
      return { params: { siteKey: key, path: await things.document(id) } }
    },
  },
}
