import type { IncomingMessage } from 'node:http'
import getRawBody from 'raw-body'
import { problem } from '#shared/kernel/errors.ts'
import { parseJson } from '#shared/kernel/json.ts'

/** The largest request body, except where a route takes an upload (document 1, Limits). */
export const maxBodyBytes = 1024 * 1024

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Reads a JSON body with every digit of its numbers; an empty body is an empty object. Throws VALIDATION_ERROR when it is too large,
 * compressed, of another content type, not UTF-8 or not JSON.
 */
export async function readJson(request: IncomingMessage): Promise<unknown> {
  const encoding = request.headers['content-encoding']
  if (encoding && encoding !== 'identity')
    throw problem('VALIDATION_ERROR', `body must not be compressed, got content-encoding ${encoding}`)
  const bytes = await readBytes(request)
  if (bytes.length === 0) return {}
  const type = request.headers['content-type'] ?? ''
  if (!/^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type)) {
    throw problem('VALIDATION_ERROR', `content-type must be application/json, got ${type || 'none'}`)
  }
  return parseJson(decode(bytes))
}

/** Reads a body whole, up to 1 MB; what comes after the limit is let flow past, so that the caller can read the answer. */
export async function readBytes(request: IncomingMessage): Promise<Buffer> {
  try {
    return await getRawBody(request, { limit: maxBodyBytes, length: request.headers['content-length'] ?? null, encoding: null })
  } catch (cause) {
    request.resume()
    if ((cause as { type?: string }).type === 'entity.too.large') throw problem('VALIDATION_ERROR', 'body must be at most 1 MB', { cause })
    throw problem('VALIDATION_ERROR', 'body did not arrive whole', { cause })
  }
}

function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes)
  } catch (cause) {
    throw problem('VALIDATION_ERROR', 'body must be UTF-8', { cause })
  }
}
