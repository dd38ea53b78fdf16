import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'

/** Says of text that this installation has written it, for one purpose. */
export interface Signer {
  /** The signature of a text, fit for a form or an address. */
  readonly sign: (text: string) => string
  /** Whether a signature is that of the text; takes the same time whatever is wrong with it. */
  readonly holds: (text: string, signature: string) => boolean
}

/** Makes a signer for one purpose from the installation's secret key; a signature of one purpose is none of another. */
export function signer(secretKey: Buffer, purpose: string): Signer {
  const key = Buffer.from(hkdfSync('sha256', secretKey, Buffer.alloc(0), `kontor signed ${purpose}`, 32))
  const sign = (text: string): string => createHmac('sha256', key).update(text).digest('base64url')
  return {
    sign,
    holds(text, signature) {
      const [wanted, given] = [Buffer.from(sign(text)), Buffer.from(signature)]
      return wanted.length === given.length && timingSafeEqual(wanted, given)
    },
  }
}
