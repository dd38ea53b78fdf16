import { MIMEType, TextDecoder } from 'node:util'
import { problem } from '#shared/platform/kernel/errors.ts'

/**
 * Creates a decoder for the charset that a content type declares, by its names in the Encoding Standard (WHATWG); for UTF-8 without one.
 * A byte order mark is no text. Throws VALIDATION_ERROR that begins with `what` for an unknown charset. With `isFatal`, the decoder throws a
 * TypeError for bytes that are not valid in the charset; otherwise it replaces them.
 */
export function createCharsetDecoder(contentType: string, what: string, isFatal: boolean): TextDecoder {
  const charset = (readCharset(contentType) ?? 'utf-8').trim()
  try {
    return new TextDecoder(charset, { fatal: isFatal })
  } catch (cause) {
    throw problem('VALIDATION_ERROR', `${what} must have a known charset such as utf-8 or iso-8859-1, got ${charset.slice(0, 50)}`, {
      cause,
    })
  }
}

/** The charset that a content type declares; undefined without one. Text in quotes declares none. */
export function readCharset(contentType: string): string | undefined {
  try {
    return new MIMEType(contentType).params.get('charset') ?? undefined
  } catch {
    return undefined
  }
}
