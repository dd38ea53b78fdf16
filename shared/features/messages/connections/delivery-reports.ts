import { createHmac, timingSafeEqual } from 'node:crypto'
import type { PlatformScope } from '#shared/core/scope/scope.ts'
import { connectionEncryptor, secretContext } from '#shared/features/messages/connections/connections.ts'
import { findWebhook } from '#shared/features/messages/connections/store.ts'
import { contactKey } from '#shared/features/messages/do-not-contact/contact-key.ts'
import { insertDoNotContact } from '#shared/features/messages/do-not-contact/store.ts'
import { findRecipientByConnection, markBounced } from '#shared/features/messages/store.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

/** Maximum difference between the signed time and the clock. */
const toleranceSeconds = 300

const report = schema(t.Object({ event: t.Enum(['bounce', 'complaint']), message_id: t.String() }))

/**
 * Processes a provider's report on a message of a connection: a bounce marks the message, a complaint puts its recipient on the
 * do-not-contact list. The signature over the raw bytes is checked first: VALIDATION_ERROR when it does not match or its time is more than
 * 5 minutes off, NOT_FOUND for an unknown connection. Signed reports of unknown form are ignored.
 */
export async function receiveDeliveryReport(scope: PlatformScope, connectionId: string, body: Buffer, signature: string): Promise<void> {
  const { config, db, now } = scope
  const [webhook] = isUuid(connectionId) ? await db.query<Webhook>(findWebhook(connectionId)) : []
  if (!webhook) throw problem('NOT_FOUND')
  const secret = connectionEncryptor(config).decrypt(webhook.webhook_secret, secretContext(connectionId.toLowerCase(), 'webhook'))
  if (!isSigned(body, signature, secret, now())) throw problem('VALIDATION_ERROR', 'X-Kontor-Signature does not fit, or is too old')
  const { event, messageId } = readReport(body) ?? {}
  if (messageId === undefined) return
  const [workspaceId, connection] = [webhook.workspace_id, connectionId.toLowerCase()]
  if (event === 'bounce') return void (await db.query(markBounced(workspaceId, connection, messageId, 'The provider reports a bounce')))
  const [message] = await db.query<{ recipient: string }>(findRecipientByConnection(workspaceId, connection, messageId))
  if (message) await db.query(insertDoNotContact(workspaceId, contactKey(message.recipient), 'complaint', messageId, now()))
}

interface Webhook {
  readonly workspace_id: string
  readonly webhook_secret: Buffer
}

/** Header form `t=<seconds>,v1=<hex HMAC-SHA256 of t.body>`. One matching signature of several is enough, so a secret can be rotated. */
function isSigned(body: Buffer, header: string, secret: string, now: Date): boolean {
  const parts = header.split(',').map((part) => part.trim().split('=', 2) as [string, string?])
  const time = parts.find(([name]) => name === 't')?.[1] ?? ''
  if (!/^\d{1,12}$/.test(time) || Math.abs(now.getTime() / 1_000 - Number(time)) > toleranceSeconds) return false
  const expected = createHmac('sha256', secret).update(`${time}.`).update(body).digest()
  return parts.some(([name, hex = '']) => {
    const given = name === 'v1' && /^[0-9a-f]{64}$/i.test(hex) ? Buffer.from(hex, 'hex') : undefined
    return given !== undefined && timingSafeEqual(given, expected)
  })
}

/** Parses a report; undefined for other bodies. It names a message by its id, or by its Message-ID, which begins with the id. */
function readReport(body: Buffer): { readonly event: 'bounce' | 'complaint'; readonly messageId: string } | undefined {
  try {
    const { event, message_id } = report.parse(JSON.parse(body.toString()))
    const [messageId = ''] = message_id.replace(/^</, '').split('@')
    return isUuid(messageId) ? { event, messageId: messageId.toLowerCase() } : undefined
  } catch {
    return undefined
  }
}
