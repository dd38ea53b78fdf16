import { createHash } from 'node:crypto'

/** A UUID of version 7 that is derived from a text and a time in epoch milliseconds: equal input gives an equal id. */
export function stableId(text: string, ms: number): string {
  const time = Math.max(0, Math.floor(ms)).toString(16).padStart(12, '0').slice(-12)
  const hash = createHash('sha256').update(text).digest('hex')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hash.slice(0, 3)}-8${hash.slice(3, 6)}-${hash.slice(6, 18)}`
}
