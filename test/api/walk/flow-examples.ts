import { ids } from '#api/http/example-ids.ts'
import type { Call, Walked, WalkedRoutes } from '#test/api/walk/example.ts'
import { linkedPage, linkedQuery, nextQuery } from '#test/api/walk/second-page.ts'
import { made } from '#test/support/made.ts'

const flows = '/v1/orgs/:orgId/flows'
const one = `${flows}/:flowId`
const run = `${one}/runs/:runId`

const onFlow = ({ params }: Call): string => params?.flowId ?? ''
const ofFlow = (needs: Walked['needs']): Walked => ({
  needs,
  on: onFlow,
  things: async ({ things }) => ({ [ids.flow]: await things.flow() }),
})
const ofRun = (needs: Walked['needs'], status: 'ok' | 'failed' | 'queued'): Walked => ({
  needs,
  on: onFlow,
  things: async ({ things }) => {
    const flowId = await things.flow()
    return { [ids.flow]: flowId, [ids.flowRun]: await things.flowRun(flowId, status) }
  },
})

/** Flows, their versions and runs. */
export const flowExamples: WalkedRoutes = {
  [`GET ${flows}`]: { needs: 'flows:read', perItem: true, secondPage: linkedPage('/flows', (things) => things.flow()) },
  [`POST ${flows}`]: { needs: 'flows:create' },
  [`GET ${flows}/blocks`]: { needs: 'flows:read', perItem: true },
  [`GET ${flows}/overview`]: { needs: 'flows:read', perItem: true },
  [`POST ${flows}/generate`]: { needs: 'flows:create' },
  [`GET ${flows}/runs`]: {
    needs: 'flows:read',
    perItem: true,
    badQuery: 'limit=201',
    secondPage: async (place) => {
      const flowId = await place.things.flow()
      for (const _ of [1, 2]) await place.things.flowRun(flowId, 'ok')
      return { query: await nextQuery(place, '/flows/runs') }
    },
  },
  [`GET ${one}`]: ofFlow('flows:read'),
  [`PUT ${one}`]: ofFlow('flows:update'),
  [`DELETE ${one}`]: ofFlow('flows:delete'),
  [`POST ${one}/run`]: ofFlow('flows:run'),
  [`POST ${one}/rehearse`]: ofFlow('flows:update'),
  [`GET ${one}/versions`]: {
    ...ofFlow('flows:read'),
    secondPage: async (place) => {
      const flowId = await place.things.flow()
      const path = `/flows/${flowId}/versions`
      await made(place.org.owner.post(`${place.org.path}${path}/1/restore`))
      return { params: { flowId }, query: await linkedQuery(place, path) }
    },
  },
  [`POST ${one}/versions/:version/restore`]: ofFlow('flows:update'),
  [`GET ${one}/runs`]: ofFlow('flows:read'),
  [`GET ${run}`]: ofRun('flows:read', 'ok'),
  [`POST ${run}/cancel`]: ofRun('flows:run', 'queued'),
  [`POST ${run}/retry`]: ofRun('flows:run', 'failed'),
}
