/** What a provider sent, as JSON of a shape that nobody has checked: readers give what is there in the form that is asked for. */
export type Json = Readonly<Record<string, unknown>>

/** An object, or an empty one. */
export const objectIn = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {}

/** The objects of a list. */
export const objectsIn = (value: unknown): Json[] => (Array.isArray(value) ? value.map(objectIn) : [])

/** The most characters of an id; theirs have some thirty. */
const longestId = 255

/** The last second that a date can name: the end of the year 9999. */
const lastSecond = 253_402_300_799

/** Text, or empty text; what no database keeps of it is left out. */
export const textIn = (value: unknown): string => (typeof value === 'string' ? value.replaceAll('\0', '').toWellFormed() : '')

/** Text that is not empty, or null. */
export const someText = (value: unknown): string | null => textIn(value) || null

/** A whole number, or null. */
export const wholeIn = (value: unknown): number | null => (Number.isSafeInteger(value) ? (value as number) : null)

/** The instant of so many seconds since 1970, or null. */
export const secondsIn = (value: unknown): Date | null => {
  const seconds = wholeIn(value)
  return seconds === null || seconds <= 0 || seconds > lastSecond ? null : new Date(seconds * 1_000)
}

/** The id of something that is given as its id or whole; null for one that no provider gives. */
export const idIn = (value: unknown): string | null => {
  const id = someText(typeof value === 'string' ? value : objectIn(value).id)
  return id !== null && id.length <= longestId ? id : null
}

const decoder = new TextDecoder()

/** JSON of bytes, with or without a byte order mark; undefined when they are none. */
export function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(decoder.decode(bytes))
  } catch {
    return undefined
  }
}
