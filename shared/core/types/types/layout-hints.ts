import { problem } from '#shared/platform/kernel/errors.ts'
import { parseJson, parseStoredJson } from '#shared/platform/kernel/values/json.ts'

/**
 * A record type's layout hints, such as `{child: true}` (docs/contract/types-and-fields.md#layout-hints): clients interpret them, the
 * platform only stores them.
 */
type LayoutHints = Readonly<Record<string, unknown>>

/** Maximum characters of layout hints, as JSON. */
export const maxLayoutHintsLength = 2_048

/**
 * Parses layout hints, sent as a JSON string or as an object, and returns them as JSON text for storage. Null is an empty object. Throws
 * VALIDATION_ERROR when they are too long or not an object.
 */
export function parseLayoutHints(input: unknown): string {
  if (input === null) return '{}'
  const text = typeof input === 'string' ? input : JSON.stringify(input)
  const { length } = [...text]
  if (length > maxLayoutHintsLength)
    throw problem('VALIDATION_ERROR', `ui must have at most ${maxLayoutHintsLength} characters, got ${length}`)
  const hints = typeof input === 'string' ? parseText(input) : input
  if (typeof hints !== 'object' || hints === null || Array.isArray(hints) || JSON.isRawJSON(hints))
    throw problem('VALIDATION_ERROR', 'ui must be an object, or a JSON string that holds one')
  return JSON.stringify(hints)
}

/** Reads stored layout hints; numbers keep their exact digits. */
export const readLayoutHints = (text: string): LayoutHints => parseStoredJson(text) as LayoutHints

function parseText(text: string): unknown {
  try {
    return parseJson(text)
  } catch (cause) {
    throw problem('VALIDATION_ERROR', 'ui must be a JSON string', { cause })
  }
}
