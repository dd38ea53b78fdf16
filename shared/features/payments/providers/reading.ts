/** Unvalidated JSON of a provider. The functions below read a value of the expected type, or return an empty value. */
export type JsonObject = Readonly<Record<string, unknown>>

/** Reads an object; an empty one for any other value. */
export const readObject = (value: unknown): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {}

/** Reads a list of objects; an empty list for any other value. */
export const readObjects = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.map(readObject) : [])

/** Maximum length of an id; providers use about thirty characters. */
const maxIdLength = 255

/** The end of the year 9999 in seconds since 1970. */
const maxEpochSeconds = 253_402_300_799

/** Reads text; empty for any other value. Drops NUL characters and replaces lone surrogates, which PostgreSQL cannot store. */
export const readString = (value: unknown): string => (typeof value === 'string' ? value.replaceAll('\0', '').toWellFormed() : '')

/** Reads non-empty text, or null. */
export const readNonEmptyString = (value: unknown): string | null => readString(value) || null

/** Reads a safe integer, or null. */
export const readInteger = (value: unknown): number | null => (Number.isSafeInteger(value) ? (value as number) : null)

/** Reads seconds since 1970 as a date; null when not positive or after the year 9999. */
export const readEpochSeconds = (value: unknown): Date | null => {
  const seconds = readInteger(value)
  return seconds === null || seconds <= 0 || seconds > maxEpochSeconds ? null : new Date(seconds * 1_000)
}

/** Reads the id of an object that is given as its id or expanded; null for a missing id or one that is too long. */
export const readId = (value: unknown): string | null => {
  const id = readNonEmptyString(typeof value === 'string' ? value : readObject(value).id)
  return id !== null && id.length <= maxIdLength ? id : null
}

const decoder = new TextDecoder()

/** Parses JSON bytes with or without a byte order mark; undefined for invalid JSON. */
export function decodeJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(decoder.decode(bytes))
  } catch {
    return undefined
  }
}
