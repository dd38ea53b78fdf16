import { createHmac, timingSafeEqual } from 'node:crypto'

/** How far the time of a signature may be off, either way, in seconds (decisions, Payments). */
export const toleranceSeconds = 300

/** The HMAC-SHA256 of bytes. */
export const hmacOf = (secret: string | Buffer, ...parts: readonly (string | Buffer)[]): Buffer => {
  const hmac = createHmac('sha256', secret)
  for (const part of parts) hmac.update(part)
  return hmac.digest()
}

/** Whether one of the signatures, as text in this encoding, is the expected one; takes the same time whichever is wrong. */
export function matchesOne(expected: Buffer, given: readonly string[], encoding: 'hex' | 'base64'): boolean {
  const wanted = Buffer.from(expected.toString(encoding))
  // Compared as text, so that no second spelling of a signature passes.
  const results = given.map((text) => Buffer.byteLength(text) === wanted.length && timingSafeEqual(Buffer.from(text), wanted))
  return results.includes(true)
}

/** Whether a time in seconds since 1970, as text, is close enough to now. */
export function isPresent(seconds: string, now: Date): boolean {
  return /^\d{1,12}$/.test(seconds) && Math.abs(Number(seconds) - Math.floor(now.getTime() / 1_000)) <= toleranceSeconds
}
