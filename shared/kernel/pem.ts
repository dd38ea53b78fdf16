import { createPrivateKey } from 'node:crypto'

/** Bits of an RSA key below which receivers do not accept a signature (RFC 8301). */
const fewestBits = 1_024

/**
 * A private key in PEM that mail can be signed with, which is RSA: throws a short text that says so for any other. The two characters \n
 * count as a line break, for those who keep settings on one line.
 */
export function signingKey(text: string): string {
  const pem = text.replaceAll('\\n', '\n').trim()
  try {
    const { asymmetricKeyType, asymmetricKeyDetails } = createPrivateKey(pem)
    if (asymmetricKeyType === 'rsa' && (asymmetricKeyDetails?.modulusLength ?? 0) >= fewestBits) return pem
  } catch {
    // Said below: what the parser complains of may quote the key.
  }
  throw new Error(`must be an RSA private key of at least ${fewestBits} bits in PEM`)
}
