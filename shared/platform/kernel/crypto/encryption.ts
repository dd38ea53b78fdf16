import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, randomBytes } from 'node:crypto'

const algorithm = 'aes-256-gcm'
const [nonceBytes, tagBytes] = [12, 16]

/** Encrypts text for storage. A ciphertext can be decrypted only with the `place` that it was encrypted for. */
export interface Encryptor {
  /** Encrypts text with AES-256-GCM; `place` is authenticated data that decryption must repeat. */
  readonly encrypt: (text: string, place: string) => Buffer
  /** Decrypts to text; throws if the bytes were changed or belong to another place. */
  readonly decrypt: (ciphertext: Buffer, place: string) => string
}

/** Creates an encryptor for one purpose from the installation's secret key. Purposes cannot decrypt each other's ciphertext. */
export function createEncryptor(secretKey: Buffer, purpose: string): Encryptor {
  // A KeyObject: a cipher made from bytes takes several times as long (docs/decisions/cursors.md).
  const key = createSecretKey(Buffer.from(hkdfSync('sha256', secretKey, Buffer.alloc(0), `kontor ${purpose}`, 32)))
  return {
    encrypt(text, place) {
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: tagBytes }).setAAD(Buffer.from(place))
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), body])
    },
    decrypt(ciphertext, place) {
      const nonce = ciphertext.subarray(0, nonceBytes)
      // The length of the tag is fixed: otherwise Node accepts one of 4 bytes, which can be guessed.
      const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: tagBytes }).setAAD(Buffer.from(place))
      decipher.setAuthTag(ciphertext.subarray(nonceBytes, nonceBytes + tagBytes))
      return decipher.update(ciphertext.subarray(nonceBytes + tagBytes)).toString('utf8') + decipher.final('utf8')
    },
  }
}
