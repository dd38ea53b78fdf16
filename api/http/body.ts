import type { IncomingMessage } from 'node:http'
import getRawBody from 'raw-body'
import { watchArrival } from '#api/http/arrival.ts'
import { Problem, problem } from '#shared/kernel/errors.ts'
import { parseJson, refuseBadText } from '#shared/kernel/json.ts'

/** The largest request body, except where a route takes an upload (document 1, Limits). */
export const maxBodyBytes = 1024 * 1024

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** A JSON body and the bytes that it came in. */
export interface JsonBody {
  readonly value: unknown
  readonly bytes: Buffer
}

/**
 * Reads a JSON body with every digit of its numbers; an empty body is an empty object. Throws VALIDATION_ERROR when it is too large,
 * compressed, of another content type, not UTF-8 or not JSON.
 */
export async function readJson(request: IncomingMessage): Promise<JsonBody> {
  refuseCompressed(request)
  const bytes = await readBytes(request)
  if (bytes.length === 0) return { value: {}, bytes }
  if (!saysJson(request)) {
    throw problem('VALIDATION_ERROR', `content-type must be application/json, got ${request.headers['content-type'] || 'none'}`)
  }
  return { value: parseJson(decode(bytes)), bytes }
}

/**
 * Reads a body of any kind: parsed as `readJson` does where it is JSON, whatever its content type says, else its text; null when it is
 * empty (document 3, HTTP function). Throws VALIDATION_ERROR when it is too large, compressed, not UTF-8, or holds a NUL character.
 */
export async function readAnyBody(request: IncomingMessage): Promise<JsonBody> {
  refuseCompressed(request)
  const bytes = await readBytes(request)
  if (bytes.length === 0) return { value: null, bytes }
  const text = decode(bytes)
  refuseBadText(text, 'body')
  return { value: jsonOr(text), bytes }
}

function jsonOr(text: string): unknown {
  try {
    return parseJson(text)
  } catch (error) {
    if (error instanceof Problem && error.cause instanceof SyntaxError) return text
    throw error
  }
}

/** Reads a body whole, up to 1 MB. */
export async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const arrival = watchArrival(request)
  try {
    const bytes = getRawBody(request, { limit: maxBodyBytes, length: request.headers['content-length'] ?? null, encoding: null })
    return await Promise.race([bytes, arrival.failed])
  } catch (cause) {
    if (cause instanceof Problem) throw cause
    if ((cause as { type?: string }).type === 'entity.too.large') throw problem('VALIDATION_ERROR', 'body must be at most 1 MB', { cause })
    throw problem('VALIDATION_ERROR', `body did not arrive whole: ${(cause as Error).message}`, { cause })
  } finally {
    arrival.release()
  }
}

const saysJson = ({ headers }: IncomingMessage): boolean =>
  /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(headers['content-type'] ?? '')

/** A body comes as it is: what inflates to a thousand times its size would have to be measured first. */
export function refuseCompressed({ headers }: IncomingMessage): void {
  const encoding = headers['content-encoding']
  if (!encoding || encoding.toLowerCase() === 'identity') return
  throw problem('VALIDATION_ERROR', `body must not be compressed, got content-encoding ${encoding}`)
}

function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes)
  } catch (cause) {
    throw problem('VALIDATION_ERROR', 'body must be UTF-8', { cause })
  }
}
