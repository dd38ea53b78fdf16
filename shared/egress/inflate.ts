import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate as unzip, zstdDecompress } from 'node:zlib'
import { EgressFailure } from '#shared/egress/failure.ts'

type Decoder = (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>

const decoders: Readonly<Record<string, Decoder>> = {
  gzip: promisify(gunzip) as Decoder,
  'x-gzip': promisify(gunzip) as Decoder,
  deflate: promisify(unzip) as Decoder,
  br: promisify(brotliDecompress) as Decoder,
  zstd: promisify(zstdDecompress) as Decoder,
}

/** A body may be packed so many times over; each layer is worth a thousand times the bytes. */
const mostLayers = 3

/**
 * The bytes of a body whose Content-Encoding is this. Throws `too_large` as soon as there are more than `maxBytes`, and `unreachable` for
 * bytes that do not unpack; a coding that is not known leaves the body as it came.
 */
export async function inflate(body: Buffer, encoding: string | readonly string[] | undefined, maxBytes: number): Promise<Buffer> {
  const layers = [encoding ?? []].flat().flatMap((text) => text.toLowerCase().split(','))
  const codings = layers.map((name) => name.trim()).filter((name) => name !== '' && name !== 'identity')
  if (codings.length > mostLayers) throw new EgressFailure('too_large', `The answer is packed more than ${mostLayers} times over`)
  let bytes = body
  for (const coding of codings.toReversed()) {
    const decode = Object.hasOwn(decoders, coding) ? decoders[coding] : undefined
    if (!decode) return bytes
    // An answer to HEAD and a 304 name the coding of a body that they do not have.
    if (bytes.length > 0) bytes = await decode(bytes, { maxOutputLength: maxBytes }).catch((error) => fail(error, maxBytes))
  }
  return bytes
}

function fail(error: unknown, maxBytes: number): never {
  if ((error as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE') {
    throw new EgressFailure('too_large', `The answer has more than ${maxBytes} bytes when it is inflated`, error)
  }
  throw new EgressFailure('unreachable', 'The answer does not unpack', error)
}
