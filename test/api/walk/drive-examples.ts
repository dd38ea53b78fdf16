import { ids } from '#api/http/example-ids.ts'
import type { Walked, WalkedRoutes } from '#test/api/walk/example.ts'
import { firstPage } from '#test/api/walk/second-page.ts'
import type { Caller } from '#test/support/factories.ts'
import type { Place } from '#test/support/things.ts'

const drive = '/v1/orgs/:orgId/drive'
const bucket = `${drive}/buckets/:bucketId`
const object = '2026/supply.txt'

/** A space of the team in which this caller may do everything, by its own role, since spaces check permissions themselves. */
async function spaceFor({ things }: Place, { id }: Caller): Promise<string> {
  const { bucketId, key } = await things.space()
  await things.hold(await things.role([{ effect: 'allow', actions: ['drive:read', 'drive:write', 'drive:manage'], resources: [key] }]), id)
  return bucketId
}

/** A route of such a space, and of the thing that `more` makes there: the text that stands for it in the example, and what makes it. */
const ofSpace = (more?: readonly [text: string, make: (place: Place, bucketId: string) => Promise<string>]): Walked => ({
  needs: 'member',
  things: async (place, caller) => {
    const bucketId = await spaceFor(place, caller)
    return { [ids.teamSpace]: bucketId, ...(more ? { [more[0]]: await more[1](place, bucketId) } : {}) }
  },
})
const ofObject = ofSpace([object, ({ things }, bucketId) => things.object(bucketId)])

/** Spaces, and the files in them. */
export const driveExamples: WalkedRoutes = {
  [`GET ${drive}/overview`]: { needs: 'member', badQuery: 'limit=0' },
  [`GET ${drive}/buckets`]: { needs: 'member' },
  [`POST ${drive}/buckets`]: {
    needs: 'member',
    things: async ({ things }, { id }) => {
      const key = things.name().replaceAll('_', '-')
      await things.hold(await things.role([{ effect: 'allow', actions: ['drive:manage'], resources: [key] }]), id)
      return { contracts: key }
    },
  },
  [`DELETE ${bucket}`]: ofSpace(),
  [`GET ${bucket}/objects`]: {
    ...ofSpace(),
    secondPage: async (place) => {
      const { bucketId } = await place.things.space()
      for (const _ of [1, 2]) await place.things.object(bucketId)
      const { cursor } = (await firstPage(place, `/drive/buckets/${bucketId}/objects`, { limit: '1' })).data
      return { params: { bucketId }, query: { limit: '1', cursor } }
    },
    badQuery: 'limit=0',
  },
  [`POST ${bucket}/objects`]: ofSpace(),
  [`DELETE ${bucket}/objects`]: { ...ofObject, badQuery: '' },
  [`GET ${bucket}/download`]: { ...ofObject, badQuery: '' },
  [`POST ${bucket}/folders`]: ofSpace(),
  [`POST ${bucket}/move`]: ofObject,
  [`GET ${bucket}/shares`]: ofSpace(),
  [`POST ${bucket}/shares`]: ofSpace([ids.member, ({ things }) => things.member()]),
  [`DELETE ${bucket}/shares/:shareId`]: ofSpace([ids.driveShare, ({ things }, bucketId) => things.share(bucketId)]),
}
