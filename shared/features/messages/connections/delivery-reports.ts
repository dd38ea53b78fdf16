import type { PlatformScope } from '#shared/core/scope/scope.ts'
import { decryptSecret } from '#shared/features/messages/connections/connections.ts'
import { findWebhook } from '#shared/features/messages/connections/store.ts'
import { contactKey } from '#shared/features/messages/do-not-contact/contact-key.ts'
import { insertDoNotContact } from '#shared/features/messages/do-not-contact/store.ts'
import { findRecipientByConnection, markBounced } from '#shared/features/messages/store.ts'
import { wakeNumbering } from '#shared/platform/events/announce.ts'
import { verifyTimestampedSignature } from '#shared/platform/kernel/crypto/webhook-signature.ts'
import { problem, requireRow } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

const report = schema(t.Object({ event: t.Enum(['bounce', 'complaint']), message_id: t.String() }))

/**
 * Processes a provider's report on a message of a connection: a bounce marks the message, a complaint puts its recipient on the
 * do-not-contact list. The signature over the raw bytes is checked first: VALIDATION_ERROR when it does not match or its time is more than
 * 5 minutes off, NOT_FOUND for an unknown connection. Signed reports of unknown form are ignored.
 */
export async function receiveDeliveryReport(scope: PlatformScope, connectionId: string, body: Buffer, signature: string): Promise<void> {
  const { config, db, jobQueue, now } = scope
  const webhook = requireRow(isUuid(connectionId) ? await db.query(findWebhook({ id: connectionId })) : [])
  const connection = connectionId.toLowerCase()
  const secret = decryptSecret(config, connection, 'webhook', webhook.webhook_secret)
  // The header's hexadecimal digits may be in upper case.
  if (!verifyTimestampedSignature(signature.toLowerCase(), secret, body, now()))
    throw problem('VALIDATION_ERROR', 'X-Kontor-Signature does not match the body, or is too old')
  const { event, messageId } = readReport(body) ?? {}
  if (messageId === undefined) return
  const { workspace_id: workspaceId } = webhook
  const reported = { workspaceId, connectionId: connection, id: messageId }
  if (event === 'bounce') {
    await db.query(markBounced({ ...reported, reason: 'The provider reports a bounce' }))
    return wakeNumbering({ db, jobQueue, workspace: { id: workspaceId } }, 'soon')
  }
  const [message] = await db.query(findRecipientByConnection(reported))
  if (!message) return
  const address = contactKey(message.recipient)
  await db.query(insertDoNotContact({ workspaceId, address, reason: 'complaint', messageId, createdAt: now() }))
}

/**
 * Parses a report; undefined for any other body. A report names its message by the message's id, or by a Message-ID that begins with that
 * id.
 */
function readReport(body: Buffer): { readonly event: 'bounce' | 'complaint'; readonly messageId: string } | undefined {
  try {
    const { event, message_id } = report.parse(JSON.parse(body.toString()))
    const [messageId = ''] = message_id.replace(/^</, '').split('@')
    return isUuid(messageId) ? { event, messageId: messageId.toLowerCase() } : undefined
  } catch {
    return undefined
  }
}
