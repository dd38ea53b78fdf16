import type { Call, Example, Examples } from '#test/api/walk/example.ts'
import { linkedPage, linkedQuery, nextQuery } from '#test/api/walk/second-page.ts'
import { made } from '#test/support/made.ts'
import type { Place } from '#test/support/things.ts'

const flows = '/v1/orgs/:orgId/flows'
const one = `${flows}/:flowId`
const run = `${one}/runs/:runId`

const onFlow = ({ params }: Call): string => params?.flowId ?? ''
const ofFlow = (needs: Example['needs'], more: (flowId: string, place: Place) => Call | Promise<Call> = () => ({})): Example => ({
  needs,
  on: onFlow,
  call: async (place) => {
    const flowId = await place.things.flow()
    const { params, ...call } = await more(flowId, place)
    return { params: { flowId, ...params }, ...call }
  },
})
const ofRun = (needs: Example['needs'], status: 'ok' | 'failed' | 'queued') =>
  ofFlow(needs, async (flowId, { things }) => ({ params: { runId: await things.flowRun(flowId, status) } }))

/** Flows, their versions and runs. */
export const flowExamples: Examples = {
  [`GET ${flows}`]: { needs: 'flows:read', perItem: true, secondPage: linkedPage('/flows', (things) => things.flow()), call: () => ({}) },
  [`POST ${flows}`]: { needs: 'flows:create', call: ({ things }) => ({ body: { name: things.name() } }) },
  [`GET ${flows}/blocks`]: { needs: 'flows:read', perItem: true, call: () => ({}) },
  [`GET ${flows}/overview`]: { needs: 'flows:read', perItem: true, call: () => ({}) },
  [`POST ${flows}/generate`]: { needs: 'flows:create', call: () => ({ body: { prompt: 'Thank for every order' } }) },
  [`GET ${flows}/runs`]: {
    needs: 'flows:read',
    perItem: true,
    badQuery: 'limit=201',
    secondPage: async (place) => {
      const flowId = await place.things.flow()
      for (const _ of [1, 2]) await place.things.flowRun(flowId, 'ok')
      return { query: await nextQuery(place, '/flows/runs') }
    },
    call: () => ({}),
  },
  [`GET ${one}`]: ofFlow('flows:read'),
  [`PUT ${one}`]: ofFlow('flows:update', () => ({ body: { name: 'Changed' } })),
  [`DELETE ${one}`]: ofFlow('flows:delete'),
  [`POST ${one}/run`]: ofFlow('flows:run', () => ({ body: { input: 1 } })),
  [`POST ${one}/rehearse`]: ofFlow('flows:update', () => ({ body: { runs: 1 } })),
  [`GET ${one}/versions`]: {
    ...ofFlow('flows:read'),
    secondPage: async (place) => {
      const flowId = await place.things.flow()
      const path = `/flows/${flowId}/versions`
      await made(place.org.owner.post(`${place.org.path}${path}/1/restore`))
      return { params: { flowId }, query: await linkedQuery(place, path) }
    },
  },
  [`POST ${one}/versions/:version/restore`]: ofFlow('flows:update', () => ({ params: { version: '1' } })),
  [`GET ${one}/runs`]: ofFlow('flows:read'),
  [`GET ${run}`]: ofRun('flows:read', 'ok'),
  [`POST ${run}/cancel`]: ofRun('flows:run', 'queued'),
  [`POST ${run}/retry`]: ofRun('flows:run', 'failed'),
}
