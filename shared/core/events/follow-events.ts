import { setTimeout } from 'node:timers/promises'
import type { EventFamily } from '#shared/core/events/event-type.ts'
import { readEvents, requireFeed } from '#shared/core/events/read-events.ts'
import type { WorkspaceEvent } from '#shared/core/events/schemas.ts'
import type { Scope } from '#shared/core/scope/scope.ts'

/** Events that are read at once, and milliseconds between two reads of a list without new ones. */
const [pageSize, pollMs] = [500, 500]

/** Where to begin, and which types; as the parameters of `readEvents`. Without `after` the next event is the first. */
interface Following {
  readonly after?: string | undefined
  readonly types?: string | undefined
}

/**
 * Passes on the events that the caller may read, those of now and those that come, until the signal aborts. Throws VALIDATION_ERROR like
 * `readEvents`, also when the list ends meanwhile, since the workspace was restored.
 */
export async function followEvents(
  scope: Scope,
  families: readonly EventFamily[],
  { after, types }: Following,
  signal: AbortSignal,
  pass: (events: readonly WorkspaceEvent[]) => void,
): Promise<void> {
  const { feed, lastSeq } = await requireFeed(scope)
  let position = after ?? `${feed}:${lastSeq}`
  while (!signal.aborted) {
    await scope.cache.refresh()
    const { events, next_after, last_seq } = await readEvents(scope, families, {
      after: position,
      limit: pageSize,
      ...(types !== undefined && { types }),
    })
    pass(events)
    position = next_after
    if (next_after === `${feed}:${last_seq}`) await setTimeout(pollMs, undefined, { signal }).catch(() => undefined)
  }
}
