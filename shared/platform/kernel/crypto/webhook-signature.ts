import { createHmac, timingSafeEqual } from 'node:crypto'

/**
 * Whether a header of the form `t=<seconds>,v1=<hex>` signs a body: the signature is the HMAC-SHA256 of `<seconds>.<body>`, and its time is
 * at most 5 minutes from now. One matching signature of several is enough, so a secret can be rotated.
 */
export function verifyTimestampedSignature(header: string, secret: string, body: Buffer, now: Date): boolean {
  const parts = header.split(',').map((part) => part.trim().split('='))
  const time = parts.find(([name]) => name === 't')?.[1] ?? ''
  const signatures = parts.flatMap(([name, value]) => (name === 'v1' && value !== undefined ? [value] : []))
  return matchesAnySignature(computeHmac(secret, `${time}.`, body), signatures, 'hex') && isWithinTolerance(time, now)
}

/** Maximum difference between a signature's time and now in seconds, in either direction (docs/contract/payments.md#webhooks). */
const toleranceSeconds = 300

/** Computes the HMAC-SHA256 over the concatenated parts. */
export const computeHmac = (secret: string | Buffer, ...parts: readonly (string | Buffer)[]): Buffer => {
  const hmac = createHmac('sha256', secret)
  for (const part of parts) hmac.update(part)
  return hmac.digest()
}

/** Whether any of the encoded signatures equals the expected one; compares in constant time. */
export function matchesAnySignature(expected: Buffer, signatures: readonly string[], encoding: 'hex' | 'base64'): boolean {
  const expectedText = Buffer.from(expected.toString(encoding))
  // Compared as text, so alternative encodings of the same bytes are refused.
  const results = signatures.map(
    (text) => Buffer.byteLength(text) === expectedText.length && timingSafeEqual(Buffer.from(text), expectedText),
  )
  return results.includes(true)
}

/** Whether a time, as text in seconds since 1970, is within the tolerance of now. */
export function isWithinTolerance(seconds: string, now: Date): boolean {
  return /^\d{1,12}$/.test(seconds) && Math.abs(Number(seconds) - Math.floor(now.getTime() / 1_000)) <= toleranceSeconds
}
