import type { Examples } from '#test/api/walk/example.ts'
import { firstPage } from '#test/api/walk/second-page.ts'
import { formOf } from '#test/features/drive/support.ts'
import { createMember } from '#test/support/factories.ts'
import type { Place } from '#test/support/things.ts'

const drive = '/v1/orgs/:orgId/drive'
const bucket = `${drive}/buckets/:bucketId`

/** A space of the team in which this caller may do everything, by its own role, since spaces check permissions themselves. */
async function spaceFor({ things }: Place, { id }: { readonly id: string }): Promise<string> {
  const { bucketId, key } = await things.space()
  await things.hold(await things.role([{ effect: 'allow', actions: ['drive:read', 'drive:write', 'drive:manage'], resources: [key] }]), id)
  return bucketId
}

/** Spaces, and the files in them. */
export const driveExamples: Examples = {
  [`GET ${drive}/overview`]: { needs: 'member', badQuery: 'limit=0', call: () => ({}) },
  [`GET ${drive}/buckets`]: { needs: 'member', call: () => ({}) },
  [`POST ${drive}/buckets`]: {
    needs: 'member',
    call: async ({ things }, { id }) => {
      const key = things.name().replaceAll('_', '-')
      await things.hold(await things.role([{ effect: 'allow', actions: ['drive:manage'], resources: [key] }]), id)
      return { body: { key, name: 'New', type: 'custom' } }
    },
  },
  [`DELETE ${bucket}`]: { needs: 'member', call: async (place, caller) => ({ params: { bucketId: await spaceFor(place, caller) } }) },
  [`GET ${bucket}/objects`]: {
    secondPage: async (place) => {
      const { bucketId } = await place.things.space()
      for (const _ of [1, 2]) await place.things.object(bucketId)
      const { cursor } = (await firstPage(place, `/drive/buckets/${bucketId}/objects`, { limit: '1' })).data
      return { params: { bucketId }, query: { limit: '1', cursor } }
    },
    needs: 'member',
    badQuery: 'limit=0',
    call: async (place, caller) => ({ params: { bucketId: await spaceFor(place, caller) } }),
  },
  [`POST ${bucket}/objects`]: {
    needs: 'member',
    call: async (place, caller) => ({ params: { bucketId: await spaceFor(place, caller) }, body: formOf('a/new.txt', 'new') }),
  },
  [`DELETE ${bucket}/objects`]: {
    needs: 'member',
    badQuery: '',
    call: async (place, caller) => {
      const bucketId = await spaceFor(place, caller)
      return { params: { bucketId }, query: { key: await place.things.object(bucketId) } }
    },
  },
  [`GET ${bucket}/download`]: {
    needs: 'member',
    badQuery: '',
    call: async (place, caller) => {
      const bucketId = await spaceFor(place, caller)
      return { params: { bucketId }, query: { key: await place.things.object(bucketId) } }
    },
  },
  [`POST ${bucket}/folders`]: {
    needs: 'member',
    call: async (place, caller) => ({ params: { bucketId: await spaceFor(place, caller) }, body: { key: 'new/' } }),
  },
  [`POST ${bucket}/move`]: {
    needs: 'member',
    call: async (place, caller) => {
      const bucketId = await spaceFor(place, caller)
      return { params: { bucketId }, body: { from: await place.things.object(bucketId), to: 'moved.txt' } }
    },
  },
  [`GET ${bucket}/shares`]: { needs: 'member', call: async (place, caller) => ({ params: { bucketId: await spaceFor(place, caller) } }) },
  [`POST ${bucket}/shares`]: {
    needs: 'member',
    call: async (place, caller) => {
      const bucketId = await spaceFor(place, caller)
      return { params: { bucketId }, body: { prefix: 'a/', user_id: (await createMember(place.world, place.org)).id, mode: 'view' } }
    },
  },
  [`DELETE ${bucket}/shares/:shareId`]: {
    needs: 'member',
    call: async (place, caller) => {
      const bucketId = await spaceFor(place, caller)
      return { params: { bucketId, shareId: await place.things.share(bucketId) } }
    },
  },
}
