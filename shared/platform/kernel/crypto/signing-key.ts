import { createPrivateKey } from 'node:crypto'

/** Minimum bits of an RSA key whose signatures receivers accept (RFC 8301). */
const minBits = 1_024

/**
 * Parses a PEM private key for signing mail. Throws an Error for any key but RSA of at least 1,024 bits. The two characters \n count as a
 * line break, for settings kept on one line.
 */
export function parseSigningKey(text: string): string {
  const pem = text.replaceAll('\\n', '\n').trim()
  try {
    const { asymmetricKeyType, asymmetricKeyDetails } = createPrivateKey(pem)
    if (asymmetricKeyType === 'rsa' && (asymmetricKeyDetails?.modulusLength ?? 0) >= minBits) return pem
  } catch {
    // The error below replaces the parser's message, which may quote the key.
  }
  throw new Error(`must be an RSA private key of at least ${minBits} bits in PEM`)
}
