import { randomUUID } from 'node:crypto'
import test from 'ava'
import { deliverNotificationsJob } from '#shared/core/notifications/jobs.ts'
import { platformCause } from '#shared/platform/kernel/cause.ts'
import { planDispatch } from '#workers/platform/events/plan-dispatch.ts'

const subscriptions = {
  flows: { job: deliverNotificationsJob, continues: true, snapshots: true as const },
  notifications: { job: deliverNotificationsJob, continues: false },
}
const [id, workspaceId, entry, record, flow, rule] = Array.from({ length: 6 }, () => randomUUID()) as [string, ...string[]] & string[]
const change = {
  workspaceId: workspaceId as string,
  source: 'records',
  objectType: 'deals',
  event: 'created',
  entryIds: [entry as string],
  subjectIds: [record as string],
}
const snapshots = [{ created_by: null }]
const dispatchAt = (depth: number, listeners: Record<string, string[]> = { flows: [flow as string], notifications: [rule as string] }) => ({
  ...change,
  id,
  seq: 1,
  snapshots,
  listeners,
  cause: { ...platformCause('r'), depth },
})

test('plan: each subscriber receives the events with its own listeners, and snapshots if it takes them', (t) => {
  const parts = planDispatch(dispatchAt(2), subscriptions)
  t.deepEqual(
    parts.map(({ subscriber, changes, cause }) => ({ subscriber, changes, depth: cause.depth })),
    [
      { subscriber: 'flows', changes: { ...change, snapshots, listenerIds: [flow as string] }, depth: 2 },
      { subscriber: 'notifications', changes: { ...change, listenerIds: [rule as string] }, depth: 0 },
    ],
  )
})

test('plan: a subscriber that can continue a chain receives its depth; others start at zero', (t) => {
  const depths = (depth: number) =>
    planDispatch(dispatchAt(depth), subscriptions).map(({ subscriber, cause }) => `${subscriber} ${cause.depth}`)
  t.deepEqual(depths(0), ['flows 0', 'notifications 0'])
  t.deepEqual(depths(8), ['flows 8', 'notifications 0'])
})

test('plan: a job has the kind of its event’s cause; an event of an earlier release has none yet', (t) => {
  const planned = dispatchAt(1)
  t.like(planDispatch(planned, subscriptions)[0]?.cause, { kind: 'system', id: null })
  const { kind: _, id: __, ...earlier } = planned.cause
  t.deepEqual(planDispatch({ ...planned, cause: earlier }, subscriptions)[0]?.cause, { ...earlier, kind: 'system', id: null })
  const flow = { ...planned, cause: { ...planned.cause, kind: 'flow' as const, id } }
  t.like(planDispatch(flow, subscriptions)[0]?.cause, { kind: 'flow', id })
})

test('plan: an unknown subscriber is an error and loses no change', (t) => {
  for (const name of ['unheard-of', 'constructor']) {
    t.throws(() => planDispatch(dispatchAt(0, { [name]: [flow as string] }), subscriptions), { message: new RegExp(name) })
  }
})
