import { made } from '#test/support/made.ts'
import type { Place } from '#test/support/things.ts'

const org = '/v1/orgs/:orgId'

/** The query of the second page of a list that is paged by `Link`. */
async function linkedQuery({ org }: Place, path: string, query: Readonly<Record<string, string>> = {}): Promise<Record<string, string>> {
  const first = { ...query, limit: '1' }
  const link = (await org.owner.get(`${org.path}${path}?${new URLSearchParams(first)}`)).headers.get('link') ?? ''
  return { ...first, cursor: new URL(/^<([^>]+)>/.exec(link)?.[1] ?? '').searchParams.get('cursor') ?? '' }
}

/** The call for the second page of such a list, after two things were created. */
const linkedCall = (path: string, make: (things: Place['things']) => Promise<unknown>) => async (place: Place) => {
  for (const _ of [1, 2]) await make(place.things)
  return { query: await linkedQuery(place, path) }
}

/** The calls that name a cursor of such a list. */
export const linkedCalls = {
  [`GET ${org}/forms`]: [linkedCall('/forms', (things) => things.form())],
  [`GET ${org}/flows`]: [linkedCall('/flows', (things) => things.flow())],
  [`GET ${org}/functions`]: [linkedCall('/functions', (things) => things.fn())],
  [`GET ${org}/queues`]: [linkedCall('/queues', (things) => things.queue())],
  [`GET ${org}/iam/groups`]: [linkedCall('/iam/groups', (things) => things.role())],
  [`GET ${org}/types`]: [linkedCall('/types', (things) => things.type())],
  [`GET ${org}/fields`]: [async (place: Place) => ({ query: await linkedQuery(place, '/fields', { entity_type: place.keys.type }) })],
  [`GET ${org}/messages`]: [
    linkedCall('/messages', (things) => things.message()),
    async ({ things }: Place) => ({ query: { record_id: await things.record(), status: 'sent' } }),
  ],
  [`GET ${org}/messages/templates`]: [linkedCall('/messages/templates', (things) => things.messageTemplate())],
  [`GET ${org}/messages/do-not-contact`]: [linkedCall('/messages/do-not-contact', (things) => things.stoppedAddress())],
  [`GET ${org}/flows/:flowId/versions`]: [
    async (place: Place) => {
      const flowId = await place.things.flow()
      const at = `/flows/${flowId}/versions`
      await made(place.org.owner.post(`${place.org.path}${at}/1/restore`))
      return { params: { flowId }, query: await linkedQuery(place, at) }
    },
  ],
  [`GET ${org}/notification-rules`]: [linkedCall('/notification-rules', (things) => things.rule())],
}
