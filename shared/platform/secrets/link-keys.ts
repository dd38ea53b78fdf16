import type { Executor } from '#shared/platform/db/database.ts'
import { deriveKey, openingKeys, type SecretKeys } from '#shared/platform/kernel/crypto/secret-keys.ts'
import { findLinkKeys, linkKeys } from '#shared/platform/secrets/store.ts'

/** The key that a secret key signs links in mails with. They must stay valid for years, so its derivation never changes. */
export const linkKeyOf = (secretKey: Buffer): Buffer => deriveKey(secretKey, 'kontor unsubscribe')

/** The key that signs links in mails from now on. */
export const signingLinkKey = ({ secretKey }: SecretKeys): Buffer => linkKeyOf(secretKey)

/** The keys that verify links in mails: those of this process first, then, if none of them fits, those of retired secret keys. */
export async function* verifyingLinkKeys(db: Executor, keys: SecretKeys): AsyncGenerator<Buffer> {
  yield* openingKeys(keys).map(linkKeyOf)
  for (const { id, link_key_sealed } of await db.query(findLinkKeys())) {
    if (link_key_sealed !== null) yield Buffer.from(linkKeys.open(keys, { id }, link_key_sealed), 'base64')
  }
}
