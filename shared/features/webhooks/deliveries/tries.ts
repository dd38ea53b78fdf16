import { dayMs, hourMs, minuteMs } from '#shared/platform/kernel/time/units.ts'

/** Waits in milliseconds before the tries of a delivery: the first one begins at once. After the last the delivery has failed. */
const waitsMs = [0, 5_000, 5 * minuteMs, 30 * minuteMs, ...[2, 5, 10, 14, 20, 24].map((hours) => hours * hourMs)] as const

/** Waits differ by up to this share, so that deliveries that failed together are not tried together. */
const spread = 0.1

/** When a delivery is tried again after so many tries; undefined after the last one. `retryAfter` is what the receiver asked for. */
export function nextTry(tries: number, now: Date, retryAfter: Date | undefined, random = Math.random()): Date | undefined {
  const wait = waitsMs[tries]
  if (wait === undefined) return undefined
  if (retryAfter) return new Date(Math.min(retryAfter.getTime(), now.getTime() + dayMs))
  return new Date(now.getTime() + Math.round(wait * (1 + spread * (2 * random - 1))))
}

/** The forms of a date in headers: that of RFC 9110, and those of RFC 850 and of C, which receivers of a date have to read, too. */
const httpDate = /^(?:[A-Z][a-z]{2}, |[A-Z][a-z]+day, ).* GMT$/
const cDate = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d [\d:]{8} \d{4}$/

/** The time that a header Retry-After names, by RFC 9110 in seconds or as a date; undefined without one that can be read. */
export function readRetryAfter(header: string | readonly string[] | undefined, now: Date): Date | undefined {
  if (typeof header !== 'string') return undefined
  const text = header.trim()
  // Above a day it counts as a day, and from a number of any length no date can be made.
  if (/^\d+$/.test(text)) return new Date(now.getTime() + Math.min(Number(text) * 1_000, dayMs))
  const date = httpDate.test(text) ? Date.parse(text) : cDate.test(text) ? Date.parse(`${text} GMT`) : Number.NaN
  return Number.isNaN(date) ? undefined : new Date(Math.max(date, now.getTime()))
}
