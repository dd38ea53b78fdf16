import { problem } from '#shared/platform/kernel/errors.ts'
import { findStringEnd, parseExactJson } from '#shared/platform/kernel/values/exact-numbers.ts'

/** The deepest nesting of arrays and objects that a request may have (decisions, Shared conventions). */
export const maxJsonDepth = 64

/**
 * Parses JSON without losing a digit: a number literal that a binary float cannot hold becomes the object that `JSON.rawJSON` makes,
 * which `numberText` reads and `JSON.stringify` writes back as it stood. Throws VALIDATION_ERROR on bad syntax, on nesting
 * deeper than 64, and on NUL characters or lone surrogates anywhere; messages call the whole `where`.
 */
export function parseJson(text: string, where = 'body'): unknown {
  refuseDepth(text, where)
  let value: unknown
  try {
    value = parseStoredJson(text)
  } catch (cause) {
    throw problem('VALIDATION_ERROR', `${where} is not valid JSON: ${(cause as Error).message}`, { cause })
  }
  if (text.includes('\\u')) requireCleanText(value, where)
  return value
}

/** Parses stored JSON, such as a column's, with the same exact numbers as `parseJson` but without its limits. */
export function parseStoredJson(text: string): unknown {
  return parseExactJson(text)
}

/** The exact decimal text of a JSON number, or undefined when the value is no number. */
export function jsonNumberText(value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : undefined
  return JSON.isRawJSON(value) ? value.rawJSON : undefined
}

/** The JSON number for decimal text: a plain number where its digits survive, else raw JSON with the same digits. */
export function toJsonNumber(text: string): number | RawJson {
  if (text.length <= 15) return Number(text)
  const number = Number(text)
  return String(number) === text ? number : JSON.rawJSON(text)
}

/** Whether text may stand in a request: no NUL character and no lone surrogate (decisions, Shared conventions). */
export const isCleanText = (text: string): boolean => text.isWellFormed() && !text.includes('\0')

/** Throws VALIDATION_ERROR naming the path of the first text or key in `value` that holds a NUL character or a lone surrogate. */
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

function refuseDepth(text: string, where: string): void {
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
