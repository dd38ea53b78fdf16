import type { IncomingMessage } from 'node:http'
import { watchArrival } from '#api/http/request/arrival.ts'
import type { OpenBody } from '#api/http/request/body-memory.ts'
import { sizeText } from '#api/http/request/size-text.ts'
import type { Route } from '#api/http/route.ts'
import { Problem, problem } from '#shared/platform/kernel/errors.ts'
import { createCharsetDecoder } from '#shared/platform/kernel/values/charset.ts'
import { parseJson, requireCleanText } from '#shared/platform/kernel/values/json.ts'

/** The largest request body, except where a route takes an upload (docs/contract/limits.md#request-bodies). */
export const maxBodyBytes = 1024 * 1024

/** Bounds of a body, by the route that takes it. */
export interface BodyBounds {
  readonly maxBytes: number
  /** Most values in JSON; undefined for those of `parseJson`. */
  readonly maxValues?: number | undefined
  /** Counts the bytes of the body while it arrives. */
  readonly open: OpenBody
}

/**
 * Bounds of a visitor's body: no field of a public route needs more, but for forms and public functions, which set `maxBodyBytes`. Most
 * values: more than all options of the largest form.
 */
const visitorBounds = { maxBytes: 64 * 1024, maxValues: 5_000 } as const

/** The bounds of a route's body. */
export function boundsOf(
  { permission, maxBodyBytes: maxBytes, body }: Pick<Route, 'permission' | 'maxBodyBytes' | 'body'>,
  open: OpenBody,
): BodyBounds {
  if (permission !== 'public') return { maxBytes: maxBytes ?? maxBodyBytes, open }
  return { maxBytes: maxBytes ?? visitorBounds.maxBytes, maxValues: body === 'any' ? undefined : visitorBounds.maxValues, open }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** A parsed body and its bytes. */
export interface ReadBody {
  readonly value: unknown
  readonly bytes: Buffer
}

/**
 * Reads a JSON body with every digit of its numbers; an empty body is an empty object. Throws VALIDATION_ERROR when it is too large,
 * compressed, of another content type, not UTF-8 or not JSON.
 */
export async function readJson(request: IncomingMessage, bounds: BodyBounds): Promise<ReadBody> {
  refuseCompressed(request)
  const bytes = await readBytes(request, bounds)
  if (bytes.length === 0) return { value: {}, bytes }
  if (!declaresJson(request)) {
    throw problem('VALIDATION_ERROR', `content-type must be application/json, got ${request.headers['content-type'] || 'none'}`)
  }
  return { value: parseJson(decode(bytes), 'body', bounds.maxValues), bytes }
}

/**
 * Reads a body of any kind: its value when it is JSON, whatever the content type; otherwise its text; null when it is empty
 * (docs/contract/public.md#http-functions). It is read by its declared charset, UTF-8 without one. Throws VALIDATION_ERROR when it is too
 * large, compressed, of an unknown charset or invalid in its own, or holds a NUL character.
 */
export async function readAnyBody(request: IncomingMessage, bounds: BodyBounds): Promise<ReadBody> {
  refuseCompressed(request)
  const bytes = await readBytes(request, bounds)
  const decoder = createCharsetDecoder(request.headers['content-type'] ?? '', 'body', true)
  if (bytes.length === 0) return { value: null, bytes }
  const text = decode(bytes, decoder)
  requireCleanText(text, 'body')
  return { value: parseJsonOrText(text), bytes }
}

/** A text that begins neither a list, an object nor a text in quotes has no values to count: a table of numbers is no JSON. */
function parseJsonOrText(text: string): unknown {
  try {
    return parseJson(text)
  } catch (error) {
    if (error instanceof Problem && (error.cause instanceof SyntaxError || !/^\s*[[{"]/.test(text))) return text
    throw error
  }
}

/**
 * Reads the fields of a form: url-encoded or, with `takesParts`, multipart/form-data. An empty body has none. Throws VALIDATION_ERROR when
 * it is too large, compressed, of another content type, not UTF-8, or holds a NUL character.
 */
export async function readForm(request: IncomingMessage, bounds: BodyBounds, takesParts = false): Promise<ReadBody> {
  refuseCompressed(request)
  const bytes = await readBytes(request, bounds)
  const type = request.headers['content-type'] ?? ''
  const value = takesParts && /^multipart\/form-data\s*;/i.test(type) ? await readParts(bytes, type) : readEncoded(bytes, type)
  for (const [name, field] of value) requireCleanText({ [name]: field }, 'body')
  return { value, bytes }
}

function readEncoded(bytes: Buffer, type: string): URLSearchParams {
  if (bytes.length > 0 && !/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(type)) {
    throw problem('VALIDATION_ERROR', `content-type must be application/x-www-form-urlencoded, got ${type || 'none'}`)
  }
  const text = decode(bytes)
  requireFewPairs(text)
  const value = new URLSearchParams(text)
  // URLSearchParams decodes invalid bytes to the replacement character.
  const isReplaced = [...value].flat().some((part) => part.includes('\ufffd'))
  if (isReplaced && !/%ef%bf%bd|\ufffd/i.test(text)) throw problem('VALIDATION_ERROR', 'body must be percent-encoded UTF-8')
  return value
}

/** Most pairs of a name and a value in a body. Decoding 200,000 takes 400 ms of the thread. */
const maxPairs = visitorBounds.maxValues

function requireFewPairs(text: string): void {
  let pairs = 1
  for (let at = text.indexOf('&'); at >= 0; at = text.indexOf('&', at + 1)) pairs += 1
  if (pairs > maxPairs) throw problem('VALIDATION_ERROR', `body must have at most ${maxPairs} fields, got ${pairs}`)
}

/** The text parts of a small form; files are omitted. */
async function readParts(bytes: Buffer, type: string): Promise<URLSearchParams> {
  const parts = await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData().catch((cause: unknown) => {
    throw problem('VALIDATION_ERROR', 'body must be multipart/form-data', { cause })
  })
  return new URLSearchParams([...parts].flatMap(([name, field]) => (typeof field === 'string' ? [[name, field] as [string, string]] : [])))
}

/** Reads a whole body. Throws VALIDATION_ERROR above the limit, OVERLOADED when bodies that arrive slowly hold too much memory. */
async function readBytes(request: IncomingMessage, { maxBytes, open }: BodyBounds): Promise<Buffer> {
  const tooLarge = () => problem('VALIDATION_ERROR', `body must be at most ${sizeText(maxBytes)}`)
  if (Number(request.headers['content-length']) > maxBytes) throw tooLarge()
  const arrival = watchArrival(request)
  const held = open(arrival.fail)
  const { promise: whole, resolve } = Promise.withResolvers<void>()
  const pieces: Buffer[] = []
  let size = 0
  const take = (piece: Buffer) => {
    size += piece.length
    if (size > maxBytes) return arrival.fail(tooLarge())
    pieces.push(piece)
    held.hold(piece.length)
  }
  request.on('data', take).once('end', resolve)
  try {
    await arrival.unlessFailed(whole)
    return Buffer.concat(pieces, size)
  } catch (failure) {
    // The answer is sent first; then the rest of the body is read and dropped.
    request.pause()
    throw failure
  } finally {
    request.off('data', take).off('end', resolve)
    held.release()
    arrival.release()
  }
}

const declaresJson = ({ headers }: IncomingMessage): boolean =>
  /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(headers['content-type'] ?? '')

/** Refuses compressed bodies, since one could inflate to a thousand times its size. */
export function refuseCompressed({ headers }: IncomingMessage): void {
  const encoding = headers['content-encoding']
  if (!encoding || encoding.toLowerCase() === 'identity') return
  throw problem('VALIDATION_ERROR', `body must not be compressed, got content-encoding ${encoding}`)
}

function decode(bytes: Buffer, decoder = utf8): string {
  try {
    return decoder.decode(bytes)
  } catch (cause) {
    throw problem('VALIDATION_ERROR', `body must be ${decoder.encoding.toUpperCase()}`, { cause })
  }
}
