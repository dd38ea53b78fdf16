import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'

/** Signs text of this installation for one purpose, and verifies the signatures. */
export interface Signer {
  /** Returns the signature of a text as base64url, which forms and URLs can carry. */
  readonly sign: (text: string) => string
  /** Whether a signature belongs to the text. Compares in constant time. */
  readonly verify: (text: string, signature: string) => boolean
}

/** Creates a signer for one purpose from the installation's secret key. A signature is valid for its purpose only. */
export function createSigner(secretKey: Buffer, purpose: string): Signer {
  const key = Buffer.from(hkdfSync('sha256', secretKey, Buffer.alloc(0), `kontor signed ${purpose}`, 32))
  const sign = (text: string): string => createHmac('sha256', key).update(text).digest('base64url')
  return {
    sign,
    verify(text, signature) {
      const [wanted, given] = [Buffer.from(sign(text)), Buffer.from(signature)]
      return wanted.length === given.length && timingSafeEqual(wanted, given)
    },
  }
}
