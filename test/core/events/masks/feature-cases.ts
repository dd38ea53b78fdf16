import type { EventCase } from '#test/core/events/masks/cases.ts'
import { spaceOf } from '#test/features/drive/support.ts'
import { made } from '#test/support/made.ts'

/** Cases of features. */
export const featureCases: readonly EventCase[] = [
  {
    types: ['queues.item.added', 'queues.item.claimed', 'queues.item.moved', 'queues.item.closed'],
    showsTexts: true,
    happen: async (scene) => {
      const { org, things } = scene
      const { owner, path } = org
      const queue = await things.queue()
      const item = await things.queueItem(queue.id)
      const { claim_token } = (await owner.post(`${path}/queues/${queue.id}/claim`, {})).data.items[0]
      await made(owner.post(`${path}/queues/${queue.id}/items/${item.id}/move`, { to_stage: 'stored', note: scene.secret, claim_token }))
      let isThere = true
      return {
        permission: 'queues:read',
        resource: queue.key,
        isReadBy: (_, { holds }) => holds('queues:read', isThere ? queue.key : undefined),
        remove: async () => {
          await made(owner.delete(`${path}/queues/${queue.id}`))
          await scene.world.drain()
          isThere = false
        },
      }
    },
  },
  {
    types: ['drive.object.created', 'drive.object.replaced', 'drive.object.moved', 'drive.object.deleted'],
    showsTexts: true,
    happen: async (scene) => {
      const { org, things, secret } = scene
      const { key, bucketId } = await things.space()
      const space = spaceOf(org.owner, org, bucketId)
      await made(space.put(`a/${secret}`, secret))
      await made(space.put(`a/${secret}`, `${secret} again`))
      await made(space.move(`a/${secret}`, `b/${secret}`))
      await made(space.remove(`b/${secret}`))
      return { permission: 'drive:read', resource: key, isReadBy: (_, { holds }) => holds('drive:read', key) }
    },
  },
]
