import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate as unzip, zstdDecompress } from 'node:zlib'
import { Agent, request } from 'undici'
import { startDeadline } from '#shared/platform/egress/deadline.ts'
import type { Dialer } from '#shared/platform/egress/dialer.ts'
import { parseEndpoint } from '#shared/platform/egress/endpoint.ts'
import { EgressFailure } from '#shared/platform/egress/failure.ts'
import { dialSocket } from '#shared/platform/egress/tcp.ts'

/** An HTTP request to send. */
export interface HttpCall {
  readonly url: string
  readonly method: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer | null
  /** Timeout in milliseconds from resolving the name to the last byte of the answer. */
  readonly timeoutMs: number
  /** Maximum size of the answer's body, both as sent and decompressed. */
  readonly maxBytes: number
  /** Set where only the status and headers count: the body is not kept, and what is above `maxBytes` is not read. */
  readonly dropsBody?: true
  readonly signal?: AbortSignal | undefined
}

/** A complete HTTP answer. */
export interface HttpAnswer {
  readonly status: number
  /** Headers by lower-case name. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** The decompressed body. */
  readonly body: Buffer
}

/** Headers that route or delimit a message. They are derived from the call; callers may not set them, which prevents request smuggling. */
export const reservedHeaders: ReadonlySet<string> = new Set([
  ...['host', 'connection', 'content-length', 'transfer-encoding', 'upgrade'],
  ...['expect', 'keep-alive', 'proxy-connection', 'te', 'trailer'],
])

/**
 * Calls an http or https address through a dialer and reads the whole answer. Redirects are not followed: the 302 is the answer. Throws an
 * EgressFailure, or the abort reason of the caller's signal.
 */
export async function callHttp(dialer: Dialer, call: HttpCall): Promise<HttpAnswer> {
  const { url } = parseEndpoint(call.url)
  const reserved = Object.keys(call.headers ?? {}).find((name) => reservedHeaders.has(name.toLowerCase()))
  if (reserved !== undefined) throw new EgressFailure('refused', `The header ${reserved} cannot be set`)
  const deadline = startDeadline(call.timeoutMs, call.signal)
  // Connections are not reused: the next call resolves and checks the name again.
  const agent = new Agent({
    connect: (_options, callback) => {
      const { host, port, tls } = parseEndpoint(call.url)
      dialSocket(dialer, { host, port, tls, signal: deadline.signal }).then(
        (socket) => callback(null, socket),
        (error) => callback(error, null),
      )
    },
    headersTimeout: 0,
    bodyTimeout: 0,
    maxResponseSize: call.dropsBody ? -1 : call.maxBytes,
  })
  try {
    return await deadline.race(exchange(agent, url, call, deadline.signal))
  } catch (error) {
    throw translateError(error, call.maxBytes) ?? deadline.errorToThrow(error)
  } finally {
    deadline.stop()
    void agent.destroy()
  }
}

async function exchange(agent: Agent, url: URL, call: HttpCall, signal: AbortSignal): Promise<HttpAnswer> {
  const { method, headers = {}, body = null, maxBytes } = call
  // Headers may be frozen, so they are copied. undici checks the method and throws for an invalid one.
  const options = { dispatcher: agent, method: method as 'GET', headers: { ...headers }, body, signal }
  const answer = await request(url, options)
  if (call.dropsBody) {
    await skipBody(answer.body, maxBytes)
    return { status: answer.statusCode, headers: answer.headers, body: Buffer.alloc(0) }
  }
  const bytes = Buffer.from(await answer.body.arrayBuffer())
  return {
    status: answer.statusCode,
    headers: answer.headers,
    body: await decompressBody(bytes, answer.headers['content-encoding'], maxBytes),
  }
}

/** Reads a body to its end, at most `maxBytes` of it. */
async function skipBody(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<void> {
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes >= maxBytes) return
  }
}

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
async function decompressBody(body: Buffer, encoding: string | readonly string[] | undefined, maxBytes: number): Promise<Buffer> {
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

function translateError(error: unknown, maxBytes: number): EgressFailure | undefined {
  const { code, message } = error as { code?: unknown; message?: unknown }
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return new EgressFailure('too_large', `The answer has more than ${maxBytes} bytes`, error)
  if (code === 'UND_ERR_INVALID_ARG') return new EgressFailure('refused', `The call cannot be sent: ${message}`, error)
  return undefined
}
