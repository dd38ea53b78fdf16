import type { EventFamily, ShowEvent } from '#shared/core/events/event-type.ts'
import { type EventPage, type EventQuery, maxExamined, type WorkspaceEvent } from '#shared/core/events/schemas.ts'
import { isOfType, typeNamesOf, unknownType } from '#shared/core/events/type-names.ts'
import type { EventFamilies } from '#shared/core/scope/event-families.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { firstRow } from '#shared/platform/db/database.ts'
import { type Feed, findEvents, findFeed, type StoredEvent } from '#shared/platform/events/feed-store.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'
import { computeBudget } from '#shared/platform/kernel/process/compute-budget.ts'

/** Events that are read from the list at once. */
const chunk = 250

/** The most bytes of an answer's events as JSON; a single event may be larger, and is then alone. */
const maxBytes = 9_990_000

/**
 * The next events of the workspace's list that the caller may read (docs/contract/events.md). Throws VALIDATION_ERROR for an unknown type,
 * and for a position in another list, ahead of this one, or before what is kept.
 */
export async function readEvents(scope: Scope, families: readonly EventFamily[], query: EventQuery): Promise<EventPage> {
  const feed = await requireFeed(scope)
  const after = readPosition(feed, query.after)
  const types = readTypes(families, query.types)
  const until = Math.min(feed.lastSeq, after + maxExamined)
  const events: WorkspaceEvent[] = []
  const page = (at: number): EventPage => ({
    events,
    next_after: `${feed.feed}:${at}`,
    last_seq: feed.lastSeq,
    oldest_seq: feed.oldestSeq,
    feed: feed.feed,
  })
  const budget = computeBudget(scope.db.owner, { steps: Number.POSITIVE_INFINITY, bound: '' })
  let bytes = 0
  for (let from = after; from < until; from += chunk) {
    const to = Math.min(from + chunk, until)
    const rows = await scope.db.query(
      findEvents({ workspaceId: scope.workspace.id, after: from, upTo: to, types, objectType: query.object_type }),
    )
    const show = await prepareEvents(scope, families, rows)
    for (const row of rows) {
      await budget.pause()
      const event = await show(row)
      if (!event) continue
      bytes += Buffer.byteLength(JSON.stringify(event)) + 1
      if (events.length > 0 && bytes > maxBytes) return page(row.seq - 1)
      events.push(event)
      if (events.length === query.limit) return page(row.seq)
    }
  }
  return page(until)
}

/** Prepares showing some events to the caller, in their order, each as its family does. One that the caller may not read is undefined. */
export async function prepareEvents(
  scope: Scope,
  families: EventFamilies<Scope>,
  rows: readonly StoredEvent[],
): Promise<(event: StoredEvent) => Promise<WorkspaceEvent | undefined>> {
  const showByType = new Map<string, ShowEvent>()
  for (const { types, prepare } of families) {
    const names = new Set(types.map(({ type }) => type))
    const ofFamily = rows.filter(({ type }) => names.has(type))
    if (ofFamily.length === 0) continue
    const show = await prepare(scope, ofFamily)
    for (const name of names) showByType.set(name, show)
  }
  return async (event) => {
    const shown = await showByType.get(event.type)?.(event)
    if (!shown) return undefined
    const { actor, cause, subject, data } = shown
    return { seq: event.seq, id: event.id, type: event.type, at: event.at, actor, cause, subject, data }
  }
}

/** The list of events of the workspace. */
export async function requireFeed({ db, workspace }: Scope): Promise<Feed> {
  const feed = await firstRow(db, findFeed({ workspaceId: workspace.id }))
  if (!feed) throw new Error(`The workspace ${workspace.id} has no list of events`)
  return feed
}

/** The number after which a page begins; without a position, that before the oldest kept event. */
function readPosition({ feed, lastSeq, oldestSeq }: Feed, after: string | undefined): number {
  if (after === undefined) return oldestSeq - 1
  const [, list, digits] = /^(?:([^:]+):)?(\d{1,15})$/.exec(after) ?? []
  if (digits === undefined || (list !== undefined && !isUuid(list)))
    throw problem('VALIDATION_ERROR', 'after must be next_after of an earlier answer, or a number of this list')
  if (list !== undefined && list.toLowerCase() !== feed)
    throw problem('VALIDATION_ERROR', `after is of another list of events; this one is ${feed}, and its oldest kept number is ${oldestSeq}`)
  const seq = Number(digits)
  if (seq > lastSeq) throw problem('VALIDATION_ERROR', `after is ahead of the list, whose last number is ${lastSeq}`)
  if (seq < oldestSeq - 1) throw problem('VALIDATION_ERROR', `after is before the oldest kept number, which is ${oldestSeq}`)
  return seq
}

/** The types that the parameter names; null for all. */
function readTypes(families: readonly EventFamily[], types: string | undefined): string[] | null {
  if (types === undefined) return null
  const known = typeNamesOf(families)
  return types.split(',').flatMap((name) => {
    const named = known.filter((type) => isOfType(type, name))
    if (named.length === 0) throw problem('VALIDATION_ERROR', `types: ${unknownType(name)}`)
    return named
  })
}
