import type { Call, Example, Examples } from '#test/api/walk/example.ts'
import { linkedPage } from '#test/api/walk/second-page.ts'
import type { Place } from '#test/support/things.ts'

const queues = '/v1/orgs/:orgId/queues'
const one = `${queues}/:queueId`
const item = `${one}/items/:itemId`

/** The keys of queues that calls name by their ids: the permission is checked for the key. */
const keys = new Map<string, string>()

/** Malformed ids are 400 on these routes. */
const ids = ['queueId', 'itemId']

const on = ({ params }: Call): string => keys.get(params?.queueId ?? '') ?? ''

/** A queue of the place's own. */
async function queueIn({ things }: Place): Promise<string> {
  const { id, key } = await things.queue()
  keys.set(id, key)
  return id
}

const ofQueue = (needs: Example['needs'], more: Omit<Call, 'params'> | (() => Omit<Call, 'params'>) = {}): Example => ({
  needs,
  on,
  ids,
  call: async (place) => ({ params: { queueId: await queueIn(place) }, ...(typeof more === 'function' ? more() : more) }),
})

const ofItem = (needs: Example['needs'], body?: object): Example => ({
  needs,
  on,
  ids,
  call: async (place) => {
    const queueId = await queueIn(place)
    return { params: { queueId, itemId: (await place.things.queueItem(queueId)).id }, ...(body ? { body } : {}) }
  },
})

/** A scan of a key that the queue holds, in the form that a route takes. */
const scanning = (bodyOf: (key: string) => object): Example => ({
  needs: 'queues:transition',
  on,
  ids,
  call: async (place) => {
    const queueId = await queueIn(place)
    return { params: { queueId }, body: bodyOf((await place.things.queueItem(queueId)).key) }
  },
})

/** Work queues. All belong to their app; the permission is checked for the queue's key. */
export const queueExamples: Examples = {
  [`GET ${queues}`]: {
    needs: 'queues:read',
    perItem: true,
    secondPage: linkedPage('/queues', (things) => things.queue()),
    call: () => ({}),
  },
  [`POST ${queues}`]: {
    needs: 'queues:create',
    keyInside: true,
    on: ({ body }) => (body as { key: string }).key,
    call: ({ things }) => ({ body: { key: things.name(), name: 'New' } }),
  },
  [`GET ${one}`]: ofQueue('queues:read'),
  [`PUT ${one}`]: ofQueue('queues:update', { body: { name: 'Changed' } }),
  [`DELETE ${one}`]: ofQueue('queues:delete'),
  [`GET ${one}/items`]: { ...ofQueue('queues:read', { query: { stage: 'in' } }), badQuery: 'limit=201' },
  [`POST ${one}/items`]: ofQueue('queues:enqueue', { body: { keys: ['A'] } }),
  [`GET ${item}`]: ofItem('queues:read'),
  [`PATCH ${item}`]: ofItem('queues:transition', { priority: 1 }),
  [`DELETE ${item}`]: ofItem('queues:delete'),
  [`POST ${item}/move`]: ofItem('queues:transition', { to_stage: 'out' }),
  [`POST ${one}/scan`]: scanning((key) => ({ key })),
  // A repeated scan_id gets the same response, so it does not differ between workspaces.
  [`POST ${one}/scan/batch`]: ofQueue('queues:transition', {
    body: { scans: [{ scan_id: '1', scanned_at: '2026-01-01T00:00:00Z', key: 'A' }] },
  }),
  [`POST ${one}/claim`]: {
    needs: 'queues:transition',
    on,
    ids,
    call: async (place) => {
      const queueId = await queueIn(place)
      await place.things.queueItem(queueId)
      return { params: { queueId }, body: { stage: 'in' } }
    },
  },
  [`GET ${one}/board`]: { ...ofQueue('queues:read'), badQuery: 'limit=0' },
  [`GET ${one}/stages/:stageKey/items`]: {
    needs: 'queues:read',
    on,
    ids,
    badQuery: 'limit=0',
    call: async (place) => {
      const queueId = await queueIn(place)
      await place.things.queueItem(queueId)
      return { params: { queueId, stageKey: 'in' } }
    },
  },
  [`GET ${one}/summary`]: ofQueue('queues:read'),
  [`GET ${one}/batches`]: ofQueue('queues:read'),
  [`GET ${one}/events`]: { ...ofQueue('queues:read'), badQuery: 'limit=501' },
  [`GET ${one}/verify`]: ofQueue('queues:read'),
  [`POST ${one}/stages/:stageKey/action`]: {
    needs: 'queues:transition',
    on,
    ids,
    // The button's function is checked beside the queue.
    call: async (place, caller) => {
      const queueId = await queueIn(place)
      const policy = [{ effect: 'allow', actions: ['functions:invoke'] }]
      if (caller.id !== place.org.ownerId) await place.things.hold(await place.things.role(policy), caller.id)
      const { id } = await place.things.queueItem(queueId)
      return { params: { queueId, stageKey: 'in' }, body: { button_id: 'press', item_ids: [id] } }
    },
  },
}
