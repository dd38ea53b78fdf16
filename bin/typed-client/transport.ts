import type { ParseAs } from 'openapi-fetch'
import { statuses } from './generated.ts'

/** The codes that the API answers. `UNREACHABLE` is a call that Kontor did not answer: with the status 0, or with that of a foreign answer. */
export type ErrorCode = keyof typeof statuses | 'UNREACHABLE'

/** What every failed call throws. */
export class KontorError extends Error {
  override readonly name = 'KontorError'
  readonly code: ErrorCode
  /** The status of the answer; 0 when there was none or nothing was sent. */
  readonly status: number
  /** To be told to the operator; undefined when the work of a job failed. */
  readonly requestId: string | undefined
  constructor(code: ErrorCode, status: number, message: string, requestId?: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.status = status
    this.requestId = requestId
  }
}

interface Reading {
  readonly parseAs?: ParseAs
  readonly signal?: AbortSignal | null
}

/** The body of an answer in the form that was asked for; else JSON parsed, and all else, files of JSON too, as a Blob. */
export async function read(response: Response, kind: 'data' | 'file' | 'nothing' | 'any', { parseAs, signal }: Reading): Promise<unknown> {
  const { status, headers } = response
  if (status === 304 || (status === 204 && kind !== 'data')) return undefined
  const isJson = headers.get('content-type')?.startsWith('application/json') ?? false
  if (kind === 'nothing' || (kind === 'data' && !isJson)) throw await foreign(response)
  if (parseAs === 'stream') return response.body
  const form = parseAs ?? (isJson && kind !== 'file' ? 'json' : 'blob')
  const body = await bodyOf(response, form, signal)
  const hasData = typeof body === 'object' && body !== null && 'data' in body
  if (kind === 'data' && form === 'json' && !hasData) throw await foreign(response)
  return body
}

async function bodyOf(response: Response, form: Exclude<ParseAs, 'stream'>, signal?: AbortSignal | null): Promise<unknown> {
  try {
    return await response[form]()
  } catch (cause) {
    if (signal?.aborted) throw cause
    const message = `The answer with the status ${response.status} broke off or cannot be read`
    throw new KontorError('UNREACHABLE', 0, message, undefined, { cause })
  }
}

/** The failure of an answer that Kontor does not give, such as the page of a proxy. */
async function foreign(response: Response): Promise<KontorError> {
  await drop(response)
  const type = response.headers.get('content-type') ?? 'no type'
  const message = `An answer with the status ${response.status} and ${type} is not what Kontor answers; nothing is known to be written`
  return new KontorError('UNREACHABLE', response.status, message)
}

/** Frees the connection of an answer whose body nobody reads. */
const drop = async (response: Response): Promise<void> => response.body?.cancel().catch(() => undefined)

/** Milliseconds between two questions for a job: at first, and at most. */
const [firstWait, longestWait] = [100, 2000]

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      if (signal.aborted) reject(signal.reason)
      else resolve()
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener('abort', end)
    if (signal.aborted) end()
  })
}

/** Sends a request and, where it began long work, waits for its end. Throws the failure of the answer or of the work. */
export async function answerOf(baseUrl: string, request: Request): Promise<Response> {
  const response = await send(request)
  const address = response.status === 202 ? response.headers.get('location') : null
  if (address === null) return response
  await drop(response)
  // The address is the operator's; the key goes to the server that was called.
  return resultOf(baseUrl + address.slice(address.indexOf('/v1/')), request)
}

interface Job {
  readonly status: 'queued' | 'running' | 'done' | 'failed'
  readonly result?: unknown
  readonly error: { readonly code: string; readonly message: string } | null
}

async function resultOf(address: string, request: Request): Promise<Response> {
  for (let wait = firstWait; ; wait = Math.min(wait * 2, longestWait)) {
    const { status, result, error } = await patiently(request, address, async (response) => {
      const body = await read(response, 'data', { signal: request.signal })
      return (body as { data: Job }).data
    })
    if (status === 'failed') throw new KontorError(codeOf(error?.code), statusOf(error?.code), error?.message ?? 'The work failed')
    if (status === 'done') return result === null ? fileOf(address, request) : Response.json({ data: result })
    await pause(wait, request.signal)
  }
}

/** The file that a job made; null as JSON for a job without a file. */
async function fileOf(address: string, request: Request): Promise<Response> {
  try {
    return await patiently(request, `${address}/result`, async (response) => response)
  } catch (failure) {
    if (failure instanceof KontorError && failure.status === 404) return Response.json({ data: null })
    throw failure
  }
}

/** The statuses of failures that pass: no answer, too many questions, and a server that is away. */
const passing: ReadonlySet<number> = new Set([0, 429, 502, 503, 504])
const mostMisses = 20

/** Asks for the work that a request began, again after each failure that passes. */
async function patiently<Result>(request: Request, address: string, take: (answer: Response) => Promise<Result>): Promise<Result> {
  const headers = { authorization: request.headers.get('authorization') ?? '' }
  for (let misses = 1; ; misses++) {
    try {
      return await take(await send(new Request(address, { headers, signal: request.signal })))
    } catch (failure) {
      if (!(failure instanceof KontorError) || !passing.has(failure.status) || misses === mostMisses) throw failure
      await pause(waits.get(failure) ?? longestWait, request.signal)
    }
  }
}

/** How long the server asks to wait after a failure, in milliseconds. */
const waits = new WeakMap<KontorError, number>()

/** Milliseconds of a header Retry-After, which has seconds or a date. */
function waitOf(after: string): number {
  const ms = /^\d+$/.test(after) ? Number(after) * 1000 : Date.parse(after) - Date.now()
  return Number.isNaN(ms) ? longestWait : Math.min(Math.max(ms, 1000), 60_000)
}

async function send(request: Request): Promise<Response> {
  const { method, signal } = request
  const { origin } = new URL(request.url)
  const response = await fetch(request).catch((cause) => {
    if (signal.aborted) throw cause
    throw new KontorError('UNREACHABLE', 0, `${origin} cannot be reached`, undefined, { cause })
  })
  if (response.redirected && method !== 'GET') {
    await drop(response)
    const message = `${origin} redirected the call to ${response.url}; nothing is known to be written`
    throw new KontorError('UNREACHABLE', response.status, message)
  }
  if (response.status >= 400) throw await failureOf(response, signal)
  if (!response.ok && !(response.status === 304 && method === 'GET')) throw await foreign(response)
  return response
}

async function failureOf(response: Response, signal: AbortSignal): Promise<KontorError> {
  const text = String(await bodyOf(response, 'text', signal))
  const { code, message, request_id: id } = parseFailure(text)
  const failure = new KontorError(codeOf(code), response.status, message ?? `${response.status} ${text.slice(0, 200)}`, id)
  waits.set(failure, waitOf(response.headers.get('retry-after') ?? ''))
  return failure
}

function parseFailure(text: string): { readonly code?: string; readonly message?: string; readonly request_id?: string } {
  try {
    return (JSON.parse(text) as { error?: object }).error ?? {}
  } catch {
    return {}
  }
}

const codeOf = (code: string | undefined): ErrorCode =>
  code !== undefined && Object.hasOwn(statuses, code) ? (code as ErrorCode) : 'INTERNAL'
const statusOf = (code: string | undefined): number => (statuses as Readonly<Record<string, number>>)[codeOf(code)] ?? 500
