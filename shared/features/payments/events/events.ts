import { createHash } from 'node:crypto'
import { type PlatformScope, type Scope, within } from '#shared/core/scope/scope.ts'
import { platformOrigin } from '#shared/features/payments/connections/connections.ts'
import { openConnection } from '#shared/features/payments/connections/open.ts'
import { findWebhookConnection, type StoredConnection } from '#shared/features/payments/connections/store.ts'
import { applyFacts } from '#shared/features/payments/events/apply.ts'
import { insertEvent, lockEvent, saveEventLink } from '#shared/features/payments/events/store.ts'
import { handleEventJob } from '#shared/features/payments/jobs.ts'
import type { ProviderEvent } from '#shared/features/payments/providers/facts.ts'
import type { Delivery } from '#shared/features/payments/providers/provider.ts'
import { providers } from '#shared/features/payments/providers/providers.ts'
import { problem, requireRow } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'

/** Maximum size of a webhook delivery in bytes; providers send about 10,000. */
export const maxDeliveryBytes = 1024 * 1024

/**
 * Receives a webhook delivery: checks the signature on the raw bytes and stores the event together with the job that applies it. Returns
 * false for an event that is already stored. Throws NOT_FOUND for an unknown connection, and VALIDATION_ERROR for a wrong signature or one
 * outside the time tolerance.
 */
export async function receiveDelivery(scope: PlatformScope, connectionId: string, delivery: Delivery): Promise<boolean> {
  const connection = requireRow(isUuid(connectionId) ? await scope.db.query(findWebhookConnection({ id: connectionId })) : [])
  const { provider, account } = openConnection(scope, connection)
  // Without a secret, which a change of the connection may have removed, nothing can be verified.
  const isVerifiable = account.credentials.webhook_secret !== undefined
  const event = isVerifiable ? provider.verifyDelivery(account, delivery) : undefined
  if (!event) throw problem('VALIDATION_ERROR', "The signature must match the connection's webhook secret and be at most 5 minutes old")
  return storeEvent(scope, connection, 'webhook', event, delivery.bytes)
}

/** Stores an event once, together with the job that applies it; false when it is already stored. */
export function storeEvent(
  { db, jobQueue, now, cause }: Pick<PlatformScope, 'db' | 'jobQueue' | 'now' | 'cause'>,
  { workspace_id: workspaceId, id: connectionId, provider }: StoredConnection,
  source: 'webhook' | 'sweep',
  { eventId, facts }: ProviderEvent,
  bytes: Buffer,
): Promise<boolean> {
  const bodyHash = createHash('sha256').update(bytes).digest()
  const bodyKey = `sha256:${bodyHash.toString('hex')}`
  const { signsEventId } = providers[provider]
  return db.transaction(async (tx) => {
    const statement = insertEvent({
      workspaceId,
      connectionId,
      eventKey: eventId ?? bodyKey,
      isKeySigned: signsEventId,
      bodyKey,
      source,
      body: bytes,
      bodyHash,
      receivedAt: now(),
      providerLinkId: facts.providerLinkId,
    })
    const insert = async () => (await tx.query(statement))[0]
    // If the provider does not sign event ids, a concurrent transaction may have stored another body under this id: the first insert waits
    // for it and stores nothing. The second insert sees that body and stores this event under the hash of its own body.
    const stored = (await insert()) ?? (signsEventId ? undefined : await insert())
    if (!stored) return false
    const origin = platformOrigin({ workspace: { id: workspaceId }, cause })
    await jobQueue.enqueue(tx, handleEventJob, origin, { connectionId, eventKey: stored.event_key })
    return true
  })
}

/** Applies an event once; its facts and the event's link are written in one transaction. An event about no known link stays unapplied. */
export async function applyEvent(scope: Scope, connection: StoredConnection, eventKey: string): Promise<void> {
  const { workspace, db } = scope
  await db.transaction(async (tx) => {
    const [event] = await tx.query(lockEvent({ workspaceId: workspace.id, connectionId: connection.id, eventKey }))
    if (!event || event.link_id !== null) return
    const facts = providers[connection.provider].readEvent(event.body)
    const factSource = { connectionId: connection.id, source: event.source, eventId: event.event_key }
    const link = await applyFacts(within(scope, tx), factSource, facts)
    if (link) await tx.query(saveEventLink({ workspaceId: workspace.id, connectionId: connection.id, eventKey, linkId: link.id }))
  })
}
