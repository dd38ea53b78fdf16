import type { EventFamily } from '#shared/core/events/event-type.ts'
import { exampleOf } from '#shared/core/events/list-types.ts'
import type { WorkspaceEvent } from '#shared/core/events/schemas.ts'
import { prepareEvents } from '#shared/core/events/show-all.ts'
import { expandType, isOfType } from '#shared/core/events/type-names.ts'
import { prepareJudging } from '#shared/core/records/events/judge-changes.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { type DueDelivery, planDeliveries, type RunningWebhook } from '#shared/features/webhooks/deliveries/runs-store.ts'
import { firstRow } from '#shared/platform/db/database.ts'
import { findEvents, findEventsByNumber, findFeed, type StoredEvent } from '#shared/platform/events/feed-store.ts'
import { computeBudget } from '#shared/platform/kernel/process/compute-budget.ts'

/** Events that are read from the list at once, and the most that are looked at before deliveries are sent. */
const [chunk, maxExamined] = [250, 5_000]

/** Bytes of bodies that are made before they are sent; one may be larger. */
const maxBytes = 1_000_000

/** What a webhook sends of an event, or why it sends nothing. */
type Body = { readonly body: string } | { readonly refusal: string }

/** A delivery that is due, with what makes its body, by the rights of the time when it was prepared. */
export interface Prepared {
  readonly delivery: DueDelivery
  readonly show: () => Promise<Body>
}

/** The run of a webhook as far as preparing needs it. */
interface Planning {
  /** Enters the workspace with the rights of now; events are read before, so that none is younger than the rights. */
  readonly enter: () => Promise<Scope>
  readonly families: readonly EventFamily[]
  readonly webhook: RunningWebhook
  readonly workspaceId: string
  readonly runId: string
  readonly db: Scope['db']
  readonly now: () => Date
}

/** Stores deliveries of the next events that a webhook sends, until there are `enough` or it has looked at all, and returns them. */
export async function planNext(planning: Planning, enough: number): Promise<Prepared[]> {
  const { webhook, workspaceId, runId, db, now } = planning
  const feed = await firstRow(db, findFeed({ workspaceId }))
  const { id, object_type: objectType } = webhook
  const types = webhook.types.flatMap((name) => expandType(planning.families, name))
  const until = Math.min(feed?.lastSeq ?? 0, webhook.seen_seq + maxExamined)
  const prepared: Prepared[] = []
  for (let from = webhook.seen_seq; from < until && prepared.length < enough; ) {
    const end = Math.min(from + chunk, until)
    const rows = await db.query(findEvents({ workspaceId, after: from, upTo: end, types, objectType }))
    const { bodies, upTo } = await showNext(planning, rows, enough - prepared.length, end)
    const events = rows.filter(({ seq }) => bodies.has(seq)).map(({ seq, id, type }) => ({ seq, id, type }))
    const planned = await db.query(planDeliveries({ workspaceId, id, runId, from, upTo, events: JSON.stringify(events), now: now() }))
    for (const delivery of planned) {
      const body = bodies.get(delivery.event_seq ?? 0)
      if (body !== undefined) prepared.push({ delivery, show: async () => ({ body }) })
    }
    from = upTo
  }
  return prepared
}

/** Shows the first `enough` of events that a webhook sends, and returns their bodies and the number up to which it has looked. */
async function showNext({ enter, families, webhook: { filter } }: Planning, rows: readonly StoredEvent[], enough: number, end: number) {
  const bodies = new Map<number, string>()
  if (rows.length === 0) return { bodies, upTo: end }
  const scope = await enter()
  const show = await prepareShowing(scope, families, filter, rows)
  const budget = computeBudget(scope.db.owner, { steps: Number.POSITIVE_INFINITY, bound: '' })
  let bytes = 0
  for (const row of rows) {
    await budget.pause()
    const event = await show(row)
    if (!event) continue
    const body = JSON.stringify(event)
    bodies.set(row.seq, body)
    bytes += body.length
    if (bodies.size === enough || bytes > maxBytes) return { bodies, upTo: row.seq }
  }
  return { bodies, upTo: end }
}

/** Prepares showing events, in their order; undefined for one that is hidden or that the filter does not let through. */
async function prepareShowing(
  scope: Scope,
  families: readonly EventFamily[],
  filter: RunningWebhook['filter'],
  rows: readonly StoredEvent[],
): Promise<(row: StoredEvent) => Promise<WorkspaceEvent | undefined>> {
  const show = await prepareEvents(scope, families, rows)
  if (!filter) return show
  const changes = rows.filter(({ type }) => isOfType(type, 'records.*'))
  const judge = await prepareJudging(scope, filter, changes)
  return async (row) => (isOfType(row.type, 'records.*') && (await judge(row)) ? show(row) : undefined)
}

/** Prepares deliveries that were stored before, whose bodies are made in their order. */
export async function prepareDeliveries(
  { enter, families, webhook: { filter }, workspaceId, db }: Planning,
  deliveries: readonly DueDelivery[],
): Promise<Prepared[]> {
  if (deliveries.length === 0) return []
  const numbers = deliveries.flatMap(({ event_seq }) => event_seq ?? [])
  const rows = numbers.length > 0 ? await db.query(findEventsByNumber({ workspaceId, numbers })) : []
  const bySeq = new Map(rows.map((row) => [row.seq, row]))
  const ordered = deliveries.flatMap(({ event_seq }) => (event_seq === null ? [] : (bySeq.get(event_seq) ?? [])))
  const show = await prepareShowing(await enter(), families, filter, ordered)
  const bodyOf = async ({ event_seq, event_id, type }: DueDelivery): Promise<Body> => {
    if (event_seq === null) return exampleBody(families, type, event_id)
    const row = bySeq.get(event_seq)
    if (row?.id !== event_id) return { refusal: 'The event is no longer kept' }
    const event = await show(row)
    return event ? { body: JSON.stringify(event) } : { refusal: 'The webhook may not see the event any more, or it no longer fits' }
  }
  return deliveries.map((delivery) => ({ delivery, show: () => bodyOf(delivery) }))
}

function exampleBody(families: readonly EventFamily[], name: string, id: string): Body {
  const type = families.flatMap(({ types }) => types).find(({ type }) => type === name)
  return type ? { body: JSON.stringify({ ...exampleOf(type), id }) } : { refusal: 'There is no such type of events any more' }
}
