import { RE2JS, RE2JSException, RE2JSSyntaxException } from 're2js'
import { problem } from '#shared/platform/kernel/errors.ts'

/** Maximum characters of a pattern (docs/contract/types-and-fields.md#patterns). */
export const maxPatternLength = 500

/**
 * Maximum instructions of a compiled pattern. Repeat counts multiply: `x{1000}` seventy times is 500 characters and 70,000 instructions.
 * Measured on 500 characters of hostile text: 2,000 instructions 20 ms, 10,000 120 ms, 60,000 1.1 s.
 */
const maxPatternSize = 3_000

/** A compiled regular expression. */
export interface Pattern {
  /** Number of instructions; the time for matching is proportional to it. */
  readonly size: number
  /** Whether the pattern matches anywhere in the text; the time is linear in the text's length, whatever the pattern. */
  readonly test: (text: string) => boolean
}

const maxCompiled = 1_000
const compiled = new Map<string, Pattern>()

/**
 * Compiles RE2 syntax; compiled patterns are cached. Throws VALIDATION_ERROR that names `path` and the construct if the pattern is too long
 * or too large, does not compile, or uses look-around or back references, which RE2 lacks.
 */
export function compilePattern(source: string, path = 'pattern'): Pattern {
  const known = compiled.get(source)
  if (known !== undefined) return known
  const pattern = compile(source, path)
  for (const oldest of compiled.keys()) {
    if (compiled.size < maxCompiled) break
    compiled.delete(oldest)
  }
  compiled.set(source, pattern)
  return pattern
}

function compile(source: string, path: string): Pattern {
  if ([...source].length > maxPatternLength)
    throw problem('VALIDATION_ERROR', `${path} must be at most ${maxPatternLength} characters long`)
  let expression: RE2JS
  try {
    expression = RE2JS.compile(source)
  } catch (cause) {
    throw problem('VALIDATION_ERROR', `${path} must be an RE2 expression: ${explain(cause)}`, { cause })
  }
  if (expression.programSize() > maxPatternSize) {
    throw problem('VALIDATION_ERROR', `${path} is too large once its repeat counts are written out; use smaller counts`)
  }
  // Not `expression.test`: it keeps up to 8 MB of states per pattern instead of 20 kB, and saves only microseconds on 500 characters.
  return { size: expression.programSize(), test: (text) => expression.matcher(text).find() }
}

const unsupported: readonly (readonly [RegExp, string])[] = [
  [/^\(\?<?[=!]/, 'look-around is not supported'],
  [/^\\(?:[1-9]|k)/, 'back references are not supported'],
]

function explain(cause: unknown): string {
  if (!(cause instanceof RE2JSException)) throw cause
  if (!(cause instanceof RE2JSSyntaxException)) return cause.message
  const construct = cause.getPattern() ?? ''
  const reason = unsupported.find(([start]) => start.test(construct))?.[1] ?? cause.getDescription()
  return construct === '' ? reason : `${reason}, at ${construct}`
}
