import { createHmac, timingSafeEqual } from 'node:crypto'
import type { PlatformScope } from '#shared/core/scope/scope.ts'
import { contactKey } from '#shared/features/messages/do-not-contact/contact-key.ts'
import { insertDoNotContact } from '#shared/features/messages/do-not-contact/store.ts'
import { findUnsubscribingRecipient } from '#shared/features/messages/store.ts'
import type { Config } from '#shared/platform/kernel/config.ts'
import { problem, requireRow } from '#shared/platform/kernel/errors.ts'
import { signingLinkKey, verifyingLinkKeys } from '#shared/platform/secrets/link-keys.ts'

/**
 * A token contains the ids of its workspace and message, and a 128-bit HMAC made with this installation's key. It is valid until the
 * message is deleted, also after the key was rotated.
 */

const [idBytes, signatureBytes] = [16, 16]

/** Headers for one-click unsubscription in mail programs (RFC 8058). */
export const unsubscribeHeaders = (config: Config, workspaceId: string, messageId: string): Record<string, string> => ({
  'List-Unsubscribe': `<${config.publicUrl}/unsubscribe/${makeToken(config, workspaceId, messageId)}>`,
  'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
})

/** The recipient of the message that contains an unsubscribe link, and the workspace that sent it. */
export interface UnsubscribeRecipient {
  readonly address: string
  readonly messageId: string
  readonly workspace: { readonly id: string; readonly name: string; readonly color: string | null; readonly logo: string | null }
  readonly isStopped: boolean
}

/** Recipient of an unsubscribe link; changes nothing. Throws NOT_FOUND for a token that this installation did not make. */
export async function findUnsubscribeRecipient(scope: PlatformScope, token: string): Promise<UnsubscribeRecipient> {
  const ids = await readToken(scope, token)
  const row = requireRow(await scope.db.query(findUnsubscribingRecipient({ workspaceId: ids.workspaceId, id: ids.messageId })))
  const { recipient: address, workspace: name, color, logo, isStopped } = row
  return { address, messageId: ids.messageId, workspace: { id: ids.workspaceId, name, color, logo }, isStopped }
}

/** Puts the recipient of a link on the do-not-contact list. Idempotent. */
export async function unsubscribe({ db, now }: PlatformScope, recipient: UnsubscribeRecipient): Promise<UnsubscribeRecipient> {
  const { address, messageId, workspace } = recipient
  const entry = { workspaceId: workspace.id, address: contactKey(address), reason: 'unsubscribed', messageId, createdAt: now() } as const
  await db.query(insertDoNotContact(entry))
  return { ...recipient, isStopped: true }
}

/** Not by `createSigner`: links in mails that were sent must stay valid. */
const sign = (linkKey: Buffer, ids: Buffer): Buffer =>
  createHmac('sha256', linkKey).update('link\n').update(ids).digest().subarray(0, signatureBytes)

function makeToken(config: Config, workspaceId: string, messageId: string): string {
  const ids = Buffer.from(`${workspaceId}${messageId}`.replaceAll('-', ''), 'hex')
  return Buffer.concat([ids, sign(signingLinkKey(config), ids)]).toString('base64url')
}

async function readToken(
  { config, db }: PlatformScope,
  token: string,
): Promise<{ readonly workspaceId: string; readonly messageId: string }> {
  const bytes = Buffer.from(token, 'base64url')
  const ids = bytes.subarray(0, 2 * idBytes)
  const isWhole = bytes.length === 2 * idBytes + signatureBytes && bytes.toString('base64url') === token
  const [workspaceId, messageId] = [ids.subarray(0, idBytes), ids.subarray(idBytes)].map(uuidOf) as [string, string]
  if (!isWhole) throw problem('NOT_FOUND')
  for await (const key of verifyingLinkKeys(db, config)) {
    if (timingSafeEqual(sign(key, ids), bytes.subarray(2 * idBytes))) return { workspaceId, messageId }
  }
  throw problem('NOT_FOUND')
}

const uuidOf = (bytes: Buffer): string => bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
