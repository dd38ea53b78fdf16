import { ids } from '#api/http/example-ids.ts'
import type { Call, Walked, WalkedRoutes } from '#test/api/walk/example.ts'
import { linkedPage, nextQuery } from '#test/api/walk/second-page.ts'
import type { Place } from '#test/support/things.ts'

const functions = '/v1/orgs/:orgId/functions'
const one = `${functions}/:fnId`

const onFunction = ({ params }: Call): string => params?.fnId ?? ''
const aFunction = async ({ things }: Place) => ({ [ids.function]: await things.fn() })
const ofFunction = (needs: Walked['needs']): Walked => ({ needs, on: onFunction, things: aFunction })
const run: Walked = { needs: 'public', anyBody: true, things: aFunction }

/** Functions, their runs, versions and secrets, and their public address. All belong to the functions app. */
export const functionExamples: WalkedRoutes = {
  [`GET ${functions}/secrets`]: { needs: 'functions:create' },
  [`PUT ${functions}/secrets/:name`]: {
    needs: 'functions:create',
    makesNamed: true,
    things: ({ things }) => ({ SHOP_PASSWORD: things.name().toUpperCase() }),
  },
  [`DELETE ${functions}/secrets/:name`]: {
    needs: 'functions:create',
    things: async ({ things }) => ({ SHOP_PASSWORD: await things.secret() }),
  },
  [`GET ${functions}`]: {
    needs: 'functions:read',
    perItem: true,
    secondPage: linkedPage('/functions', (things) => things.fn()),
  },
  [`POST ${functions}`]: { needs: 'functions:create' },
  [`GET ${functions}/sdk.d.ts`]: { needs: 'functions:read', perItem: true },
  [`GET ${one}`]: ofFunction('functions:read'),
  [`PUT ${one}`]: ofFunction('functions:create'),
  [`DELETE ${one}`]: ofFunction('functions:create'),
  [`POST ${one}/invoke`]: ofFunction('functions:invoke'),
  [`GET ${one}/runs`]: {
    ...ofFunction('functions:read'),
    badQuery: 'limit=0',
    secondPage: async (place) => {
      const fnId = await place.things.fn()
      for (const _ of [1, 2]) await place.things.run(fnId)
      return { params: { fnId }, query: await nextQuery(place, `/functions/${fnId}/runs`) }
    },
  },
  [`GET ${one}/runs/:runId`]: {
    needs: 'functions:read',
    on: onFunction,
    things: async ({ things }) => {
      const fnId = await things.fn()
      return { [ids.function]: fnId, [ids.functionRun]: await things.run(fnId) }
    },
  },
  [`GET ${one}/versions`]: ofFunction('functions:read'),
  [`GET ${one}/versions/:version`]: ofFunction('functions:read'),
  [`POST ${one}/versions/:version/restore`]: ofFunction('functions:create'),
  'GET /fn/:orgId/:functionId': run,
  'POST /fn/:orgId/:functionId': run,
}
