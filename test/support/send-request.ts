import { Readable } from 'node:stream'
import { request } from 'undici'

/** A response of the API. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  /** The parsed JSON body; undefined where there is none. */
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into bodies of every shape
  readonly body: any
  /** `body.data`. */
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into bodies of every shape
  readonly data: any
  /** The text of the body. */
  readonly text: string
}

interface Options {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  /** Text, bytes, forms and streams are sent unchanged, anything else as JSON; undefined is no body. */
  readonly body?: unknown
  readonly signal?: AbortSignal
}

/**
 * Sends one request and reads its response; redirects are not followed. Not by `fetch`, which takes four times as long (measured, with a
 * trivial server: 0.7 ms of processor time against 0.17 ms).
 */
export async function sendRequest(url: string, { method, headers, body, signal }: Options): Promise<Answer> {
  const encoded = await encode(body)
  const response = await request(url, {
    method,
    headers: { ...(encoded.type && { 'content-type': encoded.type }), ...headers },
    body: encoded.body,
    ...(signal && { signal }),
  })
  const isStream = String(response.headers['content-type']).startsWith('text/event-stream')
  const text = await (isStream ? readFirstEvent(response.body) : response.body.text())
  const received = new Headers(
    Object.entries(response.headers).flatMap(([name, value]) => [value ?? []].flat().map((one) => [name, one] as [string, string])),
  )
  const isJson = received.get('content-type')?.startsWith('application/json') ?? false
  const parsed = isJson && text !== '' ? JSON.parse(text) : undefined
  return { status: response.statusCode, headers: received, text, body: parsed, data: parsed?.data }
}

/** The text of a stream of events until its first event; the rest is not read, as it has no end. */
async function readFirstEvent(body: Readable): Promise<string> {
  let text = ''
  for await (const piece of body.setEncoding('utf8')) {
    text += piece
    if (/^data:.*\n\n/m.test(text)) break
  }
  return text
}

/** A body as undici sends it, and its content type as `fetch` gives it. */
async function encode(body: unknown): Promise<{ readonly type?: string | null; readonly body: string | Uint8Array | Readable | null }> {
  if (body === undefined) return { body: null }
  if (body instanceof Uint8Array) return { body }
  if (body instanceof ReadableStream) return { body: Readable.fromWeb(body) }
  if (typeof body === 'string') return { type: 'text/plain;charset=UTF-8', body }
  if (!(body instanceof FormData)) return { type: 'application/json', body: JSON.stringify(body) }
  const form = new Response(body)
  return { type: form.headers.get('content-type'), body: new Uint8Array(await form.arrayBuffer()) }
}
