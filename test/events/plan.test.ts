import { randomUUID } from 'node:crypto'
import test from 'ava'
import { deliverNotifications } from '#shared/notifications/jobs.ts'
import { planOf } from '#workers/events/plan.ts'

const subscriptions = {
  flows: { job: deliverNotifications, continues: true },
  notifications: { job: deliverNotifications, continues: false },
}
const [id, workspaceId, entry, flow, rule] = Array.from({ length: 5 }, () => randomUUID()) as [string, string, string, string, string]
const change = {
  workspaceId,
  objectType: 'deals',
  event: 'created' as const,
  entryIds: [entry],
}
const dispatchAt = (depth: number) => ({
  ...change,
  id,
  listeners: { flows: [flow], notifications: [rule] },
  cause: { actorId: null, actorType: 'system' as const, requestId: 'r', depth },
})

test('each subscriber gets the changes with its own listeners, one step further in the chain', (t) => {
  const parts = planOf(dispatchAt(2), subscriptions)
  t.deepEqual(
    parts.map(({ subscriber, changes, cause, isCut }) => ({ subscriber, changes, depth: cause.depth, isCut })),
    [
      { subscriber: 'flows', changes: { ...change, listenerIds: [flow] }, depth: 3, isCut: false },
      { subscriber: 'notifications', changes: { ...change, listenerIds: [rule] }, depth: 0, isCut: false },
    ],
  )
})

test('a chain is cut after its eighth step; what sets off nothing more is done all the same', (t) => {
  const cut = (depth: number) => planOf(dispatchAt(depth), subscriptions).map(({ subscriber, isCut }) => `${subscriber} ${isCut}`)
  t.deepEqual(cut(7), ['flows false', 'notifications false'])
  t.deepEqual(cut(8), ['flows true', 'notifications false'])
})

test('a subscriber that nobody knows is an error, not a change lost', (t) => {
  for (const name of ['unheard-of', 'constructor']) {
    t.throws(() => planOf({ ...dispatchAt(0), listeners: { [name]: [flow] } }, subscriptions), { message: new RegExp(name) })
  }
})
