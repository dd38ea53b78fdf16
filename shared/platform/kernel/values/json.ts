import { problem } from '#shared/platform/kernel/errors.ts'
import { findStringEnd, parseExactJson, roundTripsAsDouble } from '#shared/platform/kernel/values/exact-numbers.ts'

/** Maximum nesting of arrays and objects in a request (decisions, Shared conventions). */
export const maxJsonDepth = 64

/**
 * Parses JSON with exact numbers: a number that a binary float cannot hold becomes a `JSON.rawJSON` object, which `jsonNumberText` reads and
 * `JSON.stringify` writes unchanged. Throws VALIDATION_ERROR for bad syntax, for nesting deeper than `maxJsonDepth`, and for NUL characters
 * and lone surrogates; `where` names the value in messages.
 */
export function parseJson(text: string, where = 'body'): unknown {
  requireDepth(text, where)
  let value: unknown
  try {
    value = parseStoredJson(text)
  } catch (cause) {
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

/** Whether a request may contain the text: it has no NUL character and no lone surrogate (decisions, Shared conventions). */
export const isCleanText = (text: string): boolean => text.isWellFormed() && !text.includes('\0')

/** Throws VALIDATION_ERROR that names the path of the first text or key with a NUL character or a lone surrogate. */
export function requireCleanText(value: unknown, path: string): void {
  if (typeof value === 'string') {
    if (!isCleanText(value)) throw problem('VALIDATION_ERROR', `${path} holds a NUL character or a lone surrogate`)
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) requireCleanText(item, `${path}[${index}]`)
  } else if (typeof value === 'object' && value !== null && !JSON.isRawJSON(value)) {
    for (const [key, item] of Object.entries(value)) {
      requireCleanText(key, `a key of ${path}`)
      requireCleanText(item, `${path}.${key}`)
    }
  }
}

function requireDepth(text: string, where: string): void {
  let depth = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === quote) {
      index = findStringEnd(text, index)
    } else if (code === openBracket || code === openBrace) {
      depth += 1
      if (depth > maxJsonDepth) throw problem('VALIDATION_ERROR', `${where} is nested deeper than ${maxJsonDepth} levels`)
    } else if (code === closeBracket || code === closeBrace) {
      depth -= 1
    }
  }
}

const [quote, openBracket, closeBracket, openBrace, closeBrace] = [0x22, 0x5b, 0x5d, 0x7b, 0x7d]
