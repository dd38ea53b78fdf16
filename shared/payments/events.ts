import { createHash } from 'node:crypto'
import { problem } from '#shared/kernel/errors.ts'
import { isUuid } from '#shared/kernel/ids.ts'
import { openConnection } from '#shared/payments/account.ts'
import { applyFacts } from '#shared/payments/apply.ts'
import { handleEvent } from '#shared/payments/jobs.ts'
import type { News } from '#shared/payments/providers/facts.ts'
import type { Delivery } from '#shared/payments/providers/provider.ts'
import { providers } from '#shared/payments/providers/providers.ts'
import { findHookedConnection, type StoredConnection } from '#shared/payments/store/connections-store.ts'
import { insertEvent, lockEvent, noteEventLink, type StoredEvent } from '#shared/payments/store/events-store.ts'
import { type PlatformScope, type Scope, within } from '#shared/scope/scope.ts'

/** The largest delivery of a provider, in bytes; theirs have some ten thousand. */
export const maxDeliveryBytes = 1024 * 1024

/** The connection that a webhook's address names, in whichever workspace; throws NOT_FOUND. */
export async function requireHook({ db }: Pick<PlatformScope, 'db'>, connectionId: string): Promise<StoredConnection> {
  const [connection] = isUuid(connectionId) ? await db.query<StoredConnection>(findHookedConnection(connectionId)) : []
  if (!connection) throw problem('NOT_FOUND')
  return connection
}

/**
 * Takes what a provider delivers: once its signature has been checked on the bytes as they came, the event is written down with the job
 * that acts on it, and that is all. The same event again changes nothing, and gives false. Throws NOT_FOUND for an address that names no connection, and
 * VALIDATION_ERROR for a signature that is not the provider's or too old.
 */
export async function receiveDelivery(scope: PlatformScope, connectionId: string, delivery: Delivery): Promise<boolean> {
  const connection = await requireHook(scope, connectionId)
  const { provider, account } = openConnection(scope, connection)
  const news = provider.verify(account, delivery)
  if (!news) throw problem('VALIDATION_ERROR', 'The signature is not the one of this connection, or not of this moment')
  return keepEvent(scope, connection, 'webhook', news, delivery.bytes)
}

/** Writes an event down, once, with the job that acts on it; false when it was there. */
export function keepEvent(
  { db, queue, now, cause }: Pick<PlatformScope, 'db' | 'queue' | 'now' | 'cause'>,
  { workspace_id: workspaceId, id: connectionId, provider }: StoredConnection,
  source: 'webhook' | 'sweep',
  { eventId, facts }: News,
  bytes: Buffer,
): Promise<boolean> {
  const hash = createHash('sha256').update(bytes).digest()
  const ofBody = `sha256:${hash.toString('hex')}`
  const { signsEventId } = providers[provider]
  return db.transaction(async (tx) => {
    const values = [source, bytes, hash, now(), facts.providerLinkId, ofBody, signsEventId]
    const insert = async () =>
      (await tx.query<{ event_key: string }>(insertEvent(workspaceId, connectionId, eventId ?? ofBody, ...values)))[0]
    // An id that was not signed may have been taken at this moment by an event with another body: asked again, the key is that of the body.
    const kept = (await insert()) ?? (signsEventId ? undefined : await insert())
    if (!kept) return false
    const origin = { workspaceId, cause: { ...cause, actorId: null, actorType: 'system' as const } }
    await queue.enqueue(tx, handleEvent, origin, { connectionId, eventKey: kept.event_key })
    return true
  })
}

/** Acts on an event, once: what it says is applied in the transaction that notes so. One about no link of ours is left as it is. */
export async function actOnEvent(scope: Scope, connection: StoredConnection, eventKey: string): Promise<void> {
  const { workspace, db } = scope
  await db.transaction(async (tx) => {
    const [event] = await tx.query<StoredEvent>(lockEvent(workspace.id, connection.id, eventKey))
    if (!event || event.link_id !== null) return
    const facts = providers[connection.provider].read(event.body)
    const told = { connectionId: connection.id, source: event.source, eventId: event.event_key }
    const link = await applyFacts(within(scope, tx), told, facts)
    if (link) await tx.query(noteEventLink(workspace.id, connection.id, eventKey, link.id))
  })
}
