import { TextDecoder } from 'node:util'
import { problem } from '#shared/platform/kernel/errors.ts'

interface FileSignature {
  readonly bytes: readonly number[]
  /** Encoding of the text; absent for a format that is not text, which `kind` names. */
  readonly encoding?: string
  readonly kind?: string
}

/** Known first bytes of files. Any other file is read as UTF-8; the decoder removes its byte order mark. */
const signatures: readonly FileSignature[] = [
  { bytes: [0xff, 0xfe], encoding: 'utf-16le' },
  { bytes: [0xfe, 0xff], encoding: 'utf-16be' },
  { bytes: [0x1f, 0x8b], kind: 'a gzip archive' },
  { bytes: [0x50, 0x4b, 0x03, 0x04], kind: 'a workbook or a zip archive' },
  { bytes: [0xd0, 0xcf, 0x11, 0xe0], kind: 'an old workbook' },
]
const longestSignature = 4

/** Bytes decoded at a time: the parser processes a piece in one go, and its records wait in memory. */
const pieceBytes = 16_384

/**
 * Decodes a file piece by piece: UTF-8 with or without a byte order mark, or UTF-16 with one. Iterating throws VALIDATION_ERROR on
 * archives, on bytes that are invalid in the encoding, and on NUL characters.
 */
export async function* decodeText(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let decoder: TextDecoder | undefined
  let pending: Uint8Array = new Uint8Array()
  for await (const chunk of chunks) {
    const bytes = decoder === undefined ? Buffer.concat([pending, chunk]) : chunk
    if (decoder === undefined && bytes.length < longestSignature) {
      pending = bytes
      continue
    }
    decoder ??= createDecoder(bytes)
    pending = new Uint8Array()
    for (let start = 0; start < bytes.length; start += pieceBytes) yield decode(decoder, bytes.subarray(start, start + pieceBytes), true)
  }
  yield decode(decoder ?? createDecoder(pending), pending, false)
}

function createDecoder(bytes: Uint8Array): TextDecoder {
  const signature = signatures.find((known) => known.bytes.every((byte, index) => bytes[index] === byte))
  if (signature?.kind !== undefined) throw problem('VALIDATION_ERROR', `file must be CSV text, got ${signature.kind}`)
  return new TextDecoder(signature?.encoding ?? 'utf-8', { fatal: true })
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
