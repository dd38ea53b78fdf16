import { problem } from '#shared/platform/kernel/errors.ts'
import { findStringEnd, parseExactJson, roundTripsAsDouble, TooManyExactNumbers } from '#shared/platform/kernel/values/exact-numbers.ts'

/** Maximum nesting of arrays and objects in a request. */
export const maxJsonDepth = 64

/**
 * Bounds of a request's JSON (docs/contract/limits.md#request-bodies): list items, properties and brackets; different property names;
 * numbers that keep their digits as text. At each bound, parsing takes about 30 ms; 1 MB can hold 90,000 names, which take 120 ms.
 */
const maxJson = { values: 100_000, names: 20_000, exactNumbers: 20_000 } as const

/**
 * Parses JSON with exact numbers: a number that a binary float cannot hold becomes a `JSON.rawJSON` object, which `jsonNumberText` reads and
 * `JSON.stringify` writes unchanged. Throws VALIDATION_ERROR for bad syntax, for nesting deeper than `maxJsonDepth`, beyond the bounds of
 * `maxJson` or `maxValues`, and for NUL characters and lone surrogates; `where` names the value in messages.
 */
export function parseJson(text: string, where = 'body', maxValues: number = maxJson.values): unknown {
  const { names } = requireBounds(text, where, maxValues)
  if (names > maxJson.names) requireFewNames(text, where)
  let value: unknown
  try {
    value = parseExactJson(text, maxJson.exactNumbers)
  } catch (cause) {
    if (cause instanceof TooManyExactNumbers) {
      throw problem('VALIDATION_ERROR', `${where} must have at most ${cause.message}`, { cause })
    }
    throw problem('VALIDATION_ERROR', `${where} is not valid JSON: ${(cause as Error).message}`, { cause })
  }
  if (text.includes('\\u')) requireCleanText(value, where)
  return value
}

/** Parses stored JSON, such as that of a column. Numbers stay exact, as with `parseJson`, but nothing is checked. */
export const parseStoredJson = (text: string): unknown => parseExactJson(text)

/** The exact decimal text of a JSON number; undefined for other values. */
export function jsonNumberText(value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : undefined
  return JSON.isRawJSON(value) ? value.rawJSON : undefined
}

/** A JSON number that a double holds, in any notation (`5.0`, `5e0`), as a number; undefined for other values. */
export function jsonDouble(value: unknown): number | undefined {
  if (typeof value === 'number') return value
  return JSON.isRawJSON(value) && roundTripsAsDouble(value.rawJSON) ? Number(value.rawJSON) : undefined
}

/** The JSON number of a decimal text: a number if it keeps all digits, otherwise raw JSON. */
export function toJsonNumber(text: string): number | RawJson {
  if (text.length <= 15) return Number(text)
  const number = Number(text)
  return String(number) === text ? number : JSON.rawJSON(text)
}

/** Whether a request may contain the text: it has no NUL character and no lone surrogate (docs/contract/conventions.md#request-bodies). */
export const isCleanText = (text: string): boolean => text.isWellFormed() && !text.includes('\0')

/** Throws VALIDATION_ERROR that names the path of the first text or key with a NUL character or a lone surrogate. */
export function requireCleanText(value: unknown, path: string): void {
  const unclean = findUnclean(value)
  if (unclean === undefined) return
  const at = `${unclean.isKey ? 'a key of ' : ''}${path}${unclean.path}`
  throw problem('VALIDATION_ERROR', `${at} holds a NUL character or a lone surrogate`)
}

/** Where a value has a text or a key that is not clean. The path is made from its end, so that clean values cost none. */
function findUnclean(value: unknown): { readonly isKey: boolean; readonly path: string } | undefined {
  if (typeof value === 'string') return isCleanText(value) ? undefined : { isKey: false, path: '' }
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return undefined
  const isList = Array.isArray(value)
  for (const key of isList ? value.keys() : Object.keys(value)) {
    if (typeof key === 'string' && !isCleanText(key)) return { isKey: true, path: '' }
    const found = findUnclean((value as Readonly<Record<string | number, unknown>>)[key])
    if (found) return { ...found, path: `${isList ? `[${key}]` : `.${key}`}${found.path}` }
  }
  return undefined
}

/** Checks depth and number of values without parsing, and counts the property names. */
function requireBounds(text: string, where: string, maxValues: number): { readonly names: number } {
  let depth = 0
  let values = 1
  let names = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === quote) {
      index = findStringEnd(text, index)
    } else if (code === comma) {
      values += 1
    } else if (code === colon) {
      names += 1
    } else if (code === openBracket || code === openBrace) {
      depth += 1
      values += 1
      if (depth > maxJsonDepth) throw problem('VALIDATION_ERROR', `${where} is nested deeper than ${maxJsonDepth} levels`)
    } else if (code === closeBracket || code === closeBrace) {
      depth -= 1
    }
    if (values > maxValues) throw problem('VALIDATION_ERROR', `${where} must have at most ${maxValues} values`)
  }
  return { names }
}

/** Counts different property names. Repeated names, as in a list of like objects, take little time to parse. */
function requireFewNames(text: string, where: string): void {
  const names = new Set<string>()
  let name = ''
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === quote) {
      const end = findStringEnd(text, index)
      name = text.slice(index + 1, end)
      index = end
    } else if (code === colon && names.add(name).size > maxJson.names) {
      throw problem('VALIDATION_ERROR', `${where} must have at most ${maxJson.names} different property names`)
    }
  }
}

const [quote, comma, colon, openBracket, closeBracket, openBrace, closeBrace] = [0x22, 0x2c, 0x3a, 0x5b, 0x5d, 0x7b, 0x7d]
