import type { Scope } from '#shared/core/scope/scope.ts'
import { findTimelineEntries, insertTimelineEntry } from '#shared/features/payments/events/payments-store.ts'
import { getLink } from '#shared/features/payments/links/find.ts'
import type { LinkStatus, Timeline, TimelineVerdict } from '#shared/features/payments/links/schemas.ts'

/** How a change was learned. */
export type TimelineSource = Timeline[number]['source']

/** Maximum number of timeline entries in an answer, the latest ones. */
const maxEntries = 1_000

/** Reads the timeline of a link, oldest first. Throws NOT_FOUND. */
export async function readTimeline(scope: Scope, linkId: string): Promise<Timeline> {
  const { id } = await getLink(scope, linkId)
  return scope.db.query(findTimelineEntries({ workspaceId: scope.workspace.id, linkId: id, limit: maxEntries }))
}

/** A timeline entry to append. */
export interface TimelineEntry {
  readonly linkId: string
  readonly source: TimelineSource
  readonly eventId?: string | null
  readonly paymentId?: string | null
  readonly before: LinkStatus | null
  readonly after: LinkStatus
  readonly verdict: TimelineVerdict
}

/** Appends an entry to a link's timeline. Call it in the transaction of the change it describes. */
export async function appendTimeline({ db, workspace, now }: Scope, line: TimelineEntry): Promise<void> {
  await db.query(insertTimelineEntry({ eventId: null, paymentId: null, ...line, workspaceId: workspace.id, at: now() }))
}
