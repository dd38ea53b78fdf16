import { setTimeout } from 'node:timers/promises'
import { findConnection, openConnection } from '#shared/payments/account.ts'
import { noteMade } from '#shared/payments/create-link.ts'
import { keepEvent } from '#shared/payments/events.ts'
import type { Link } from '#shared/payments/link.ts'
import { findSweep, noteSweep } from '#shared/payments/store/connections-store.ts'
import { findUnmadeLinks } from '#shared/payments/store/links-store.ts'
import type { Scope } from '#shared/scope/scope.ts'

/** The longest time that providers keep what happened, in milliseconds. */
const longestMs = 30 * 86_400_000

/** A pause between calls, in milliseconds, so that a long list stays within a provider's rate: Stripe takes 25 calls a second in test mode. */
const pauseMs = 50

/** Links without an answer that one sweep looks for; and how old they are, in milliseconds: a younger one may still be answered. */
const unmade = { most: 20, afterMs: 2 * 60_000 }

/**
 * Asks a connection's provider what happened since it was last asked, and writes down what no webhook told. Links whose creation was never
 * answered are looked for. A connection that was deleted is not asked. Throws what the provider throws; then the next sweep asks for it all.
 */
export async function sweepProvider(scope: Scope, connectionId: string, signal: AbortSignal): Promise<void> {
  const { db, workspace, now } = scope
  const connection = await findConnection(scope, connectionId)
  if (!connection || connection.deleted_at !== null) return
  const { provider, account } = openConnection(scope, connection)
  const [last] = await db.query<{ asked_until: string }>(findSweep(workspace.id, connectionId))
  const until = now()
  const from = Math.max(Date.parse(last?.asked_until ?? connection.created_at) - provider.overlapMs, until.getTime() - longestMs)
  for await (const page of provider.since(account, new Date(from))) {
    for (const { bytes, ...news } of page) await keepEvent(scope, connection, 'sweep', news, bytes)
    await setTimeout(pauseMs, undefined, { signal })
  }
  const made = findUnmadeLinks(workspace.id, connectionId, new Date(until.getTime() - unmade.afterMs), unmade.most)
  for (const link of await db.query<Link>(made)) {
    const found = await provider.find(account, link)
    if (found) await noteMade(scope, link, found, 'sweep')
    await setTimeout(pauseMs, undefined, { signal })
  }
  await db.query(noteSweep(workspace.id, connectionId, until))
}
