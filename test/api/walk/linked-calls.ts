import type { Place } from '#test/support/things.ts'

const org = '/v1/orgs/:orgId'

/** The cursor of the second page of a list that is paged by `Link`, after two things were created. */
const linkedCall =
  (path: string, make: (things: Place['things']) => Promise<unknown>) =>
  async ({ org, things }: Place) => {
    for (const _ of [1, 2]) await make(things)
    const link = (await org.owner.get(`${org.path}${path}?limit=1`)).headers.get('link') ?? ''
    return { query: { limit: '1', cursor: new URL(/^<([^>]+)>/.exec(link)?.[1] ?? '').searchParams.get('cursor') ?? '' } }
  }

/** The calls that name a cursor of such a list. */
export const linkedCalls = {
  [`GET ${org}/forms`]: [linkedCall('/forms', (things) => things.form())],
  [`GET ${org}/flows`]: [linkedCall('/flows', (things) => things.flow())],
  [`GET ${org}/functions`]: [linkedCall('/functions', (things) => things.fn())],
  [`GET ${org}/queues`]: [linkedCall('/queues', (things) => things.queue())],
  [`GET ${org}/iam/groups`]: [linkedCall('/iam/groups', (things) => things.role())],
  [`GET ${org}/notification-rules`]: [linkedCall('/notification-rules', (things) => things.rule())],
}
