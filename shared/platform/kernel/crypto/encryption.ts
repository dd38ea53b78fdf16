import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { deriveKey, openingKeys, type SecretKeys } from '#shared/platform/kernel/crypto/secret-keys.ts'

const algorithm = 'aes-256-gcm'
const [nonceBytes, tagBytes] = [12, 16]

/** Encrypts text for storage. A ciphertext can be decrypted only with the `place` that it was encrypted for. */
export interface Encryptor {
  /** Encrypts text with AES-256-GCM; `place` is authenticated data that decryption must repeat. */
  readonly encrypt: (text: string, place: string) => Buffer
  /** Decrypts to text; throws if the bytes were changed, belong to another place, or were encrypted under neither key. */
  readonly decrypt: (ciphertext: Buffer, place: string) => string
  /**
   * Encrypts anew what the other key encrypted. Returns `current` for what the own key decrypts already, and `unreadable` for what neither
   * key decrypts.
   */
  readonly renew: (ciphertext: Buffer, place: string) => Buffer | 'current' | 'unreadable'
}

/** Creates an encryptor for one purpose from the installation's secret keys. Purposes cannot decrypt each other's ciphertext. */
export function createEncryptor(keys: SecretKeys, purpose: string): Encryptor {
  // KeyObjects: a cipher made from bytes takes several times as long (docs/decisions/cursors.md).
  const [own, other] = openingKeys(keys).map((key) => createSecretKey(deriveKey(key, `kontor ${purpose}`))) as [KeyObject, KeyObject?]
  const encrypt = (text: string, place: string): Buffer => {
    const nonce = randomBytes(nonceBytes)
    const cipher = createCipheriv(algorithm, own, nonce, { authTagLength: tagBytes }).setAAD(Buffer.from(place))
    const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
    return Buffer.concat([nonce, cipher.getAuthTag(), body])
  }
  return {
    encrypt,
    decrypt(ciphertext, place) {
      if (!other) return decryptWith(own, ciphertext, place)
      return tryDecrypt(own, ciphertext, place) ?? decryptWith(other, ciphertext, place)
    },
    renew(ciphertext, place) {
      if (tryDecrypt(own, ciphertext, place) !== undefined) return 'current'
      const text = other && tryDecrypt(other, ciphertext, place)
      return text === undefined ? 'unreadable' : encrypt(text, place)
    },
  }
}

function decryptWith(key: KeyObject, ciphertext: Buffer, place: string): string {
  const nonce = ciphertext.subarray(0, nonceBytes)
  // The length of the tag is fixed: otherwise Node accepts one of 4 bytes, which can be guessed.
  const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: tagBytes }).setAAD(Buffer.from(place))
  decipher.setAuthTag(ciphertext.subarray(nonceBytes, nonceBytes + tagBytes))
  return decipher.update(ciphertext.subarray(nonceBytes + tagBytes)).toString('utf8') + decipher.final('utf8')
}

function tryDecrypt(key: KeyObject, ciphertext: Buffer, place: string): string | undefined {
  try {
    return decryptWith(key, ciphertext, place)
  } catch {
    return undefined
  }
}
