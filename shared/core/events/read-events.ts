import type { EventFamily } from '#shared/core/events/event-type.ts'
import { parsePosition, positionProblem } from '#shared/core/events/positions.ts'
import { type EventPage, type EventQuery, maxExamined, type WorkspaceEvent } from '#shared/core/events/schemas.ts'
import { prepareEvents } from '#shared/core/events/show-all.ts'
import { isOfType, typeNamesOf, unknownType } from '#shared/core/events/type-names.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { firstRow } from '#shared/platform/db/database.ts'
import { type Feed, findEvents, findFeed } from '#shared/platform/events/feed-store.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { computeBudget } from '#shared/platform/kernel/process/compute-budget.ts'

/** Events that are read from the list at once. */
const chunk = 250

/** The most bytes of an answer's events as JSON; a single event may be larger, and is then alone. */
const maxBytes = 9_990_000

/** Which events a reader wants: of some types or all, of the records of a type or of everything. */
export interface WantedEvents {
  readonly types: readonly string[] | null
  readonly objectType: string | null
}

/**
 * The next events of the workspace's list that the caller may read (docs/contract/events.md). Throws VALIDATION_ERROR for an unknown type,
 * and for a position in another list, ahead of this one, or before what is kept.
 */
export async function readEvents(scope: Scope, families: readonly EventFamily[], query: EventQuery): Promise<EventPage> {
  const feed = await requireFeed(scope)
  const after = firstPosition(feed, query.after)
  const wanted = readWanted(families, query)
  const upTo = Math.min(feed.lastSeq, after + maxExamined)
  const { events, at } = await readSpan(scope, families, wanted, { after, upTo, limit: query.limit, maxBytes })
  return { events, next_after: `${feed.feed}:${at}`, last_seq: feed.lastSeq, oldest_seq: feed.oldestSeq, feed: feed.feed }
}

/** The workspace's list. */
export async function requireFeed({ db, workspace }: Scope): Promise<Feed> {
  const feed = await firstRow(db, findFeed({ workspaceId: workspace.id }))
  if (!feed) throw new Error(`The workspace ${workspace.id} has no list of events`)
  return feed
}

/** Reads which events a query wants. Throws VALIDATION_ERROR for an unknown type. */
export const readWanted = (
  families: readonly EventFamily[],
  { types, object_type }: Pick<EventQuery, 'types' | 'object_type'>,
): WantedEvents => ({ types: readTypes(families, types), objectType: object_type ?? null })

interface Span {
  /** The numbers between which events are read: above the first, up to the last. */
  readonly after: number
  readonly upTo: number
  readonly limit: number
  readonly maxBytes: number
}

/** The events of a part of the list that the caller may read, and the number up to which they were read. */
export async function readSpan(
  scope: Scope,
  families: readonly EventFamily[],
  { types, objectType }: WantedEvents,
  { after, upTo, limit, maxBytes }: Span,
): Promise<{ readonly events: WorkspaceEvent[]; readonly at: number }> {
  const events: WorkspaceEvent[] = []
  const budget = computeBudget(scope.db.owner, { steps: Number.POSITIVE_INFINITY, bound: '' })
  let bytes = 0
  for (let from = after; from < upTo; from += chunk) {
    const to = Math.min(from + chunk, upTo)
    const rows = await scope.db.query(findEvents({ workspaceId: scope.workspace.id, after: from, upTo: to, types, objectType }))
    const show = await prepareEvents(scope, families, rows)
    for (const row of rows) {
      await budget.pause()
      const event = await show(row)
      if (!event) continue
      bytes += Buffer.byteLength(JSON.stringify(event)) + 1
      if (events.length > 0 && bytes > maxBytes) return { events, at: row.seq - 1 }
      events.push(event)
      if (events.length === limit) return { events, at: row.seq }
    }
  }
  return { events, at: Math.max(after, upTo) }
}

/** The number after which a page begins; without a position, that before the oldest kept event. */
function firstPosition(feed: Feed, after: string | undefined): number {
  if (after === undefined) return feed.oldestSeq - 1
  const position = parsePosition(after, 'after')
  const found = positionProblem(feed, position)
  if (found !== undefined) throw problem('VALIDATION_ERROR', `after ${found}`)
  return position.seq
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
