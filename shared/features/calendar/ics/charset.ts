import { problem } from '#shared/platform/kernel/errors.ts'
import { createCharsetDecoder, readCharset } from '#shared/platform/kernel/values/charset.ts'

/** How the bytes of a file are decoded. */
export interface Charset {
  /** The file in a charset whose first 128 bytes are those of ASCII, so that its lines can be found. */
  readonly asAsciiSuperset: (bytes: Uint8Array) => Uint8Array
  /** Decodes a line that has one character per byte. `number` is that of the line, for the message. */
  readonly decodeLine: (line: string, number: number) => string
}

/**
 * The charset that a content type declares, UTF-8 by default. Throws VALIDATION_ERROR for an unknown one; its functions throw it for bytes
 * that are invalid.
 */
export function charsetOf(contentType: string): Charset {
  const decoder = createCharsetDecoder(contentType, 'file', true)
  const refuse = (place: string, cause: unknown) => {
    const declared = readCharset(contentType) ? decoder.encoding : 'UTF-8, or in the charset that its content type declares'
    return problem('VALIDATION_ERROR', `file must be in ${declared}: ${place} is not valid ${decoder.encoding}`, { cause })
  }
  const decode = (bytes: Uint8Array, place: string): string => {
    try {
      return decoder.decode(bytes)
    } catch (cause) {
      throw refuse(place, cause)
    }
  }
  const isWide = decoder.encoding.startsWith('utf-16')
  return {
    asAsciiSuperset: (bytes) => (isWide ? Buffer.from(decode(bytes, 'it')) : bytes),
    decodeLine: (line, number) => {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: ISO-2022-JP switches by ESC
      if (!/[\u0080-\u00ff\u001b]/.test(line)) return line
      const bytes = Buffer.from(line, 'latin1')
      return isWide ? bytes.toString('utf8') : decode(bytes, `line ${number}`)
    },
  }
}
