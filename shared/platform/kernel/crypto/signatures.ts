import { createHmac, timingSafeEqual } from 'node:crypto'
import { deriveKey, openingKeys, type SecretKeys } from '#shared/platform/kernel/crypto/secret-keys.ts'

/** Signs text for one purpose, and verifies the signatures. */
export interface Signer {
  /** Returns the signature of a text as base64url, which forms and URLs can carry. */
  readonly sign: (text: string) => string
  /** Whether one of the keys made the signature of the text. Compares in constant time. */
  readonly verify: (text: string, signature: string) => boolean
}

/** Creates a signer for one purpose from the installation's secret keys. A signature is valid for its purpose only. */
export function createSigner(keys: SecretKeys, purpose: string): Signer {
  const sign = (secretKey: Buffer, text: string): string =>
    createHmac('sha256', deriveKey(secretKey, `kontor signed ${purpose}`))
      .update(text)
      .digest('base64url')
  return {
    sign: (text) => sign(keys.secretKey, text),
    verify: (text, signature) => {
      const actual = Buffer.from(signature)
      return openingKeys(keys).some((key) => {
        const expected = Buffer.from(sign(key, text))
        return expected.length === actual.length && timingSafeEqual(expected, actual)
      })
    },
  }
}
