import type { Call, Example, Examples } from '#test/api/walk/example.ts'
import { linkedPage, nextQuery } from '#test/api/walk/second-page.ts'
import { echo } from '#test/support/things.ts'

const functions = '/v1/orgs/:orgId/functions'
const one = `${functions}/:fnId`

const onFunction = ({ params }: Call): string => params?.fnId ?? ''
const ofFunction = (needs: Example['needs'], body?: object): Example => ({
  needs,
  on: onFunction,
  call: async ({ things }) => ({ params: { fnId: await things.fn() }, ...(body ? { body } : {}) }),
})
const run: Example = { needs: 'public', anyBody: true, call: async ({ things }) => ({ params: { functionId: await things.fn() } }) }

/** Functions, their runs, versions and secrets, and their public address. All belong to the functions app. */
export const functionExamples: Examples = {
  [`GET ${functions}/secrets`]: { needs: 'functions:create', call: () => ({}) },
  [`PUT ${functions}/secrets/:name`]: {
    needs: 'functions:create',
    makesNamed: true,
    call: ({ things }) => ({ params: { name: things.name().toUpperCase() }, body: { value: 'hush' } }),
  },
  [`DELETE ${functions}/secrets/:name`]: {
    needs: 'functions:create',
    call: async ({ things }) => ({ params: { name: await things.secret() } }),
  },
  [`GET ${functions}`]: {
    needs: 'functions:read',
    perItem: true,
    secondPage: linkedPage('/functions', (things) => things.fn()),
    call: () => ({}),
  },
  [`POST ${functions}`]: { needs: 'functions:create', call: () => ({ body: { name: 'New', source: echo } }) },
  [`GET ${functions}/sdk.d.ts`]: { needs: 'functions:read', perItem: true, call: () => ({}) },
  [`GET ${one}`]: ofFunction('functions:read'),
  [`PUT ${one}`]: ofFunction('functions:create', { name: 'Changed' }),
  [`DELETE ${one}`]: ofFunction('functions:create'),
  [`POST ${one}/invoke`]: ofFunction('functions:invoke', { input: 1 }),
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
    call: async ({ things }) => {
      const fnId = await things.fn()
      return { params: { fnId, runId: await things.run(fnId) } }
    },
  },
  [`GET ${one}/versions`]: ofFunction('functions:read'),
  [`GET ${one}/versions/:version`]: {
    needs: 'functions:read',
    on: onFunction,
    call: async ({ things }) => ({ params: { fnId: await things.fn(), version: '1' } }),
  },
  [`POST ${one}/versions/:version/restore`]: {
    needs: 'functions:create',
    on: onFunction,
    call: async ({ things }) => ({ params: { fnId: await things.fn(), version: '1' } }),
  },
  'GET /fn/:orgId/:functionId': run,
  'POST /fn/:orgId/:functionId': { ...run, call: async (place, caller) => ({ ...(await run.call(place, caller)), body: { a: 1 } }) },
}
