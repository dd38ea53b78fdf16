import { ids } from '#api/http/example-ids.ts'
import type { Call, Texts, Walked, WalkedRoutes } from '#test/api/walk/example.ts'
import { linkedPage } from '#test/api/walk/second-page.ts'
import type { Place } from '#test/support/things.ts'

const queues = '/v1/orgs/:orgId/queues'
const one = `${queues}/:queueId`
const item = `${one}/items/:itemId`

/** The keys of queues that calls name by their ids: the permission is checked for the key. */
const keys = new Map<string, string>()

/** A queue of the place's own. */
async function queueIn({ things }: Place): Promise<string> {
  const { id, key } = await things.queue()
  keys.set(id, key)
  return id
}

const ofQueue = (
  needs: Walked['needs'],
  things: (place: Place) => Texts | Promise<Texts> = async (place) => ({ [ids.queue]: await queueIn(place) }),
): Walked => ({
  needs,
  on: ({ params }: Call) => keys.get(params?.queueId ?? '') ?? '',
  // Malformed ids are 400 on these routes.
  ids: ['queueId', 'itemId'],
  things,
})

/** A route about an item. `text` chooses what the example says of it: its id or its key. */
const ofItem = (needs: Walked['needs'], text: 'id' | 'key' = 'id'): Walked =>
  ofQueue(needs, async (place) => {
    const queueId = await queueIn(place)
    const { id, key } = await place.things.queueItem(queueId)
    return { [ids.queue]: queueId, ...(text === 'id' ? { [ids.queueItem]: id } : { 'P-1001': key }) }
  })

const withItem = (needs: Walked['needs']): Walked =>
  ofQueue(needs, async (place) => {
    const queueId = await queueIn(place)
    await place.things.queueItem(queueId)
    return { [ids.queue]: queueId }
  })

/** Work queues. All belong to their app; the permission is checked for the queue's key. */
export const queueExamples: WalkedRoutes = {
  [`GET ${queues}`]: {
    needs: 'queues:read',
    perItem: true,
    secondPage: linkedPage('/queues', (things) => things.queue()),
  },
  [`POST ${queues}`]: {
    needs: 'queues:create',
    keyInside: true,
    on: ({ body }) => (body as { key: string }).key,
    things: ({ things }) => ({ dock: things.name() }),
  },
  [`GET ${one}`]: ofQueue('queues:read'),
  [`PUT ${one}`]: ofQueue('queues:update'),
  [`DELETE ${one}`]: ofQueue('queues:delete'),
  [`GET ${one}/items`]: { ...ofQueue('queues:read'), badQuery: 'limit=201' },
  [`POST ${one}/items`]: ofQueue('queues:enqueue'),
  [`GET ${item}`]: ofItem('queues:read'),
  [`PATCH ${item}`]: ofItem('queues:transition'),
  [`DELETE ${item}`]: ofItem('queues:delete'),
  [`POST ${item}/move`]: ofItem('queues:transition'),
  [`POST ${one}/scan`]: ofItem('queues:transition', 'key'),
  // A repeated scan_id gets the same response, so it does not differ between workspaces.
  [`POST ${one}/scan/batch`]: ofQueue('queues:transition'),
  [`POST ${one}/claim`]: withItem('queues:transition'),
  [`GET ${one}/board`]: { ...ofQueue('queues:read'), badQuery: 'limit=0' },
  [`GET ${one}/stages/:stageKey/items`]: { ...withItem('queues:read'), badQuery: 'limit=0' },
  [`GET ${one}/summary`]: ofQueue('queues:read'),
  [`GET ${one}/batches`]: ofQueue('queues:read'),
  [`GET ${one}/events`]: { ...ofItem('queues:read'), badQuery: 'limit=501' },
  [`GET ${one}/verify`]: ofQueue('queues:read'),
  [`POST ${one}/stages/:stageKey/action`]: {
    ...ofItem('queues:transition'),
    // The button's function is checked beside the queue.
    things: async (place, caller) => {
      const queueId = await queueIn(place)
      const policy = [{ effect: 'allow', actions: ['functions:invoke'] }]
      if (caller.id !== place.org.ownerId) await place.things.hold(await place.things.role(policy), caller.id)
      return { [ids.queue]: queueId, [ids.queueItem]: (await place.things.queueItem(queueId)).id }
    },
  },
}
