import { TextDecoder } from 'node:util'
import { problem } from '#shared/platform/kernel/errors.ts'

interface Opening {
  readonly bytes: readonly number[]
  /** The encoding that the bytes announce; without one, what the file is instead. */
  readonly encoding?: string
  readonly kind?: string
}

/** What the first bytes of a file say. Anything else is taken for UTF-8, whose own mark the decoder drops. */
const openings: readonly Opening[] = [
  { bytes: [0xff, 0xfe], encoding: 'utf-16le' },
  { bytes: [0xfe, 0xff], encoding: 'utf-16be' },
  { bytes: [0x1f, 0x8b], kind: 'a gzip archive' },
  { bytes: [0x50, 0x4b, 0x03, 0x04], kind: 'a workbook or a zip archive' },
  { bytes: [0xd0, 0xcf, 0x11, 0xe0], kind: 'an old workbook' },
]
const longestOpening = 4

/** Bytes decoded at a time: the parser works off a piece in one go, and its records wait in memory. */
const pieceBytes = 16_384

/**
 * The text of a file's bytes, piece by piece: UTF-8 with or without its mark, or UTF-16 with one. Throws VALIDATION_ERROR, while it is
 * read, on archives, on bytes that are not text of the encoding, and on NUL characters.
 */
export async function* decodeText(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let decoder: TextDecoder | undefined
  let held: Uint8Array = new Uint8Array()
  for await (const chunk of chunks) {
    const bytes = decoder === undefined ? Buffer.concat([held, chunk]) : chunk
    if (decoder === undefined && bytes.length < longestOpening) {
      held = bytes
      continue
    }
    decoder ??= decoderFor(bytes)
    held = new Uint8Array()
    for (let start = 0; start < bytes.length; start += pieceBytes) yield decode(decoder, bytes.subarray(start, start + pieceBytes), true)
  }
  yield decode(decoder ?? decoderFor(held), held, false)
}

function decoderFor(bytes: Uint8Array): TextDecoder {
  const opening = openings.find((known) => known.bytes.every((byte, index) => bytes[index] === byte))
  if (opening?.kind !== undefined) throw problem('VALIDATION_ERROR', `file must be CSV text, got ${opening.kind}`)
  return new TextDecoder(opening?.encoding ?? 'utf-8', { fatal: true })
}

function decode(decoder: TextDecoder, bytes: Uint8Array, stream: boolean): string {
  let text: string
  try {
    text = decoder.decode(bytes, { stream })
  } catch (cause) {
    throw problem('VALIDATION_ERROR', `file must be UTF-8 text; its bytes are not valid ${decoder.encoding}`, { cause })
  }
  if (text.includes('\0')) throw problem('VALIDATION_ERROR', 'file must be UTF-8 text; it holds NUL characters')
  return text
}
