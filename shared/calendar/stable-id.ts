import { createHash } from 'node:crypto'

/** An id in the form of a UUID of version 7 that is the same whenever it is made of the same text and time. */
export function stableId(text: string, ms: number): string {
  const time = Math.max(0, Math.floor(ms)).toString(16).padStart(12, '0').slice(-12)
  const hash = createHash('sha256').update(text).digest('hex')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hash.slice(0, 3)}-8${hash.slice(3, 6)}-${hash.slice(6, 18)}`
}
