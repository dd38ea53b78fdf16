import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate as unzip, zstdDecompress } from 'node:zlib'
import { EgressFailure } from '#shared/platform/egress/failure.ts'

type Decoder = (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>

const decoders: Readonly<Record<string, Decoder>> = {
  gzip: promisify(gunzip) as Decoder,
  'x-gzip': promisify(gunzip) as Decoder,
  deflate: promisify(unzip) as Decoder,
  br: promisify(brotliDecompress) as Decoder,
  zstd: promisify(zstdDecompress) as Decoder,
}

/** Maximum number of compression layers; each one can expand the bytes a thousand times. */
const maxLayers = 3

/**
 * Decompresses a body by its Content-Encoding. Throws `too_large` as soon as the output exceeds `maxBytes`, and `unreachable` for bytes
 * that cannot be decompressed. An unknown encoding leaves the body as it is.
 */
export async function decompressBody(body: Buffer, encoding: string | readonly string[] | undefined, maxBytes: number): Promise<Buffer> {
  const layers = [encoding ?? []].flat().flatMap((text) => text.toLowerCase().split(','))
  const codings = layers.map((name) => name.trim()).filter((name) => name !== '' && name !== 'identity')
  if (codings.length > maxLayers) throw new EgressFailure('too_large', `The answer is compressed more than ${maxLayers} times`)
  let bytes = body
  for (const coding of codings.toReversed()) {
    const decode = Object.hasOwn(decoders, coding) ? decoders[coding] : undefined
    if (!decode) return bytes
    // Answers to HEAD and 304 answers name an encoding without having a body.
    if (bytes.length > 0) bytes = await decode(bytes, { maxOutputLength: maxBytes }).catch((error) => throwFailure(error, maxBytes))
  }
  return bytes
}

function throwFailure(error: unknown, maxBytes: number): never {
  if ((error as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE') {
    throw new EgressFailure('too_large', `The answer has more than ${maxBytes} bytes when it is decompressed`, error)
  }
  throw new EgressFailure('unreachable', 'The answer cannot be decompressed', error)
}
