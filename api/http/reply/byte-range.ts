import type { ByteRange } from '#shared/platform/blobs/byte-store.ts'

/**
 * What a Range header asks for of so many bytes (RFC 9110, 14): one part; null when no part of what it asks for is there, which is 416;
 * undefined for the whole, when it is malformed or asks for several parts. range-parser 1.3.0 answers 416 to `bytes=-100` of 11 bytes.
 */
export function readRange(header: string, size: number): ByteRange | null | undefined {
  const [, list] = /^bytes[ \t]*=(.*)$/is.exec(header) ?? []
  if (list === undefined) return undefined
  const asked = list.split(',').map((part) => /^[ \t]*(\d*)-(\d*)[ \t]*$/.exec(part))
  if (!asked.every((part) => part !== null)) return undefined
  const parts = asked.map(([, first = '', last = '']) => ({ first, last }))
  if (parts.some(({ first, last }) => (first === '' && last === '') || (first !== '' && last !== '' && Number(first) > Number(last))))
    return undefined
  const present = parts.map(({ first, last }) => partOf(first, last, size)).filter((part) => part !== null)
  if (present.length === 0) return null
  return parts.length === 1 ? present[0] : undefined
}

function partOf(first: string, last: string, size: number): ByteRange | null {
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1)
  return start <= end ? { start, end } : null
}
