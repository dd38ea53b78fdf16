import { setTimeout } from 'node:timers/promises'
import type { Scope } from '#shared/core/scope/scope.ts'
import { findConnection, openConnection } from '#shared/features/payments/connections/open.ts'
import { findSweep, saveSweep } from '#shared/features/payments/connections/store.ts'
import { storeEvent } from '#shared/features/payments/events/events.ts'
import { saveProviderLink } from '#shared/features/payments/links/create.ts'
import { findUnmadeLinks } from '#shared/features/payments/links/store.ts'
import { dayMs, minuteMs } from '#shared/platform/kernel/time/units.ts'

/** How far back a sweep looks at most, in milliseconds: providers keep events for 30 days. */
const maxLookbackMs = 30 * dayMs

/**
 * Pause between calls in milliseconds, which keeps long lists within the provider's rate limit: Stripe allows 25 calls a second in test
 * mode.
 */
const pauseMs = 50

/**
 * Links whose creation was never answered: how many one sweep looks up at most, and their minimum age in milliseconds, since the call for a
 * younger link may still be answered.
 */
const unansweredLinks = { most: 20, afterMs: 2 * minuteMs }

/**
 * Lists the events of a connection's provider since the last sweep and stores those that no webhook delivered. Also looks up links whose
 * creation was never answered. Does nothing for a deleted connection. Throws the provider's errors; the next sweep then repeats the span.
 */
export async function sweepProvider(scope: Scope, connectionId: string, signal: AbortSignal): Promise<void> {
  const { db, workspace, now } = scope
  const connection = await findConnection(scope, connectionId)
  if (!connection || connection.deleted_at !== null) return
  const { provider, account } = openConnection(scope, connection)
  const [lastSweep] = await db.query(findSweep({ workspaceId: workspace.id, connectionId }))
  const until = now()
  const from = Math.max(Date.parse(lastSweep?.polled_until ?? connection.created_at) - provider.overlapMs, until.getTime() - maxLookbackMs)
  for await (const page of provider.listEventsSince(account, new Date(from))) {
    for (const { bytes, ...event } of page) await storeEvent(scope, connection, 'sweep', event, bytes)
    await setTimeout(pauseMs, undefined, { signal })
  }
  const unanswered = findUnmadeLinks({
    workspaceId: workspace.id,
    connectionId,
    createdBefore: new Date(until.getTime() - unansweredLinks.afterMs),
    limit: unansweredLinks.most,
  })
  for (const link of await db.query(unanswered)) {
    const found = await provider.findLink(account, link)
    if (found) await saveProviderLink(scope, link, found, 'sweep')
    await setTimeout(pauseMs, undefined, { signal })
  }
  await db.query(saveSweep({ workspaceId: workspace.id, connectionId, askedUntil: until }))
}
