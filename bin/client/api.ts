import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { type ErrorCode, errorCatalogue, Problem, problem } from '#shared/platform/kernel/errors.ts'
import { eventReader, type StreamPart } from './event-stream.ts'

/** A body to be serialized as JSON, or CSV text or bytes. */
type Body = { readonly json: unknown } | { readonly csv: string | Uint8Array<ArrayBuffer> }

/**
 * Client of the API for one key. Methods return the `data` of a response; they throw the Problem that the API answered, or INTERNAL when
 * there is no response or it is not from the API.
 */
export interface Api {
  readonly baseUrl: string
  readonly get: <T>(path: string) => Promise<T>
  /** All items of a list whose header Link names the next page. */
  readonly getAll: <T>(path: string) => Promise<readonly T[]>
  /** The OpenAPI description of the server. */
  readonly describe: <T>() => Promise<T>
  /** Downloads a file that a worker produces. */
  readonly download: (path: string) => Promise<Readable>
  /**
   * Sends a body and waits for the job of a 202 response. Retries have the same Idempotency-Key, so the request is carried out at most
   * once.
   */
  readonly post: <T>(path: string, body: Body) => Promise<T>
  readonly delete: <T>(path: string) => Promise<T>
  /** Sends a body of any type. `body` is called again for each retry. */
  readonly upload: <T>(path: string, contentType: string, body: () => AsyncIterable<Uint8Array>) => Promise<T>
  /** Downloads a stored file, with the size and SHA-256 digest that the API reports. */
  readonly open: (path: string) => Promise<{ readonly bytes: Readable; readonly size: number; readonly sha256: string }>
  /**
   * Reads a stream of events until the signal aborts, from a position on. Nothing is retried: it throws also when the connection breaks, and
   * when it is silent for too long.
   */
  readonly follow: (path: string, lastEventId: string, signal: AbortSignal) => AsyncGenerator<StreamPart>
}

/** Default milliseconds of silence after which a stream counts as broken: three heartbeats (docs/contract/events.md#streams). */
const defaultSilenceMs = 45_000

/** Default seconds before each retry of a failure on the server's side (docs/contract/conventions.md#errors). */
const defaultWaits = [0.5, 1, 2, 4, 8]
/** Status of an attempt without a response. */
const unreachable = 0
const retryable = new Set([429, 500, 502, 503, unreachable])

/** Interval at which a job is polled. */
const pollMs = 500

/** How patient a client is. */
interface Patience {
  /** Seconds before each retry; empty for no retries. */
  readonly waits?: readonly number[]
  /** Milliseconds for which a stream may be silent. */
  readonly silenceMs?: number
}

/** Creates a client of the API at a base address. Nothing is retried until the API has answered once. */
export function connectApi(baseUrl: string, key: string, { waits = defaultWaits, silenceMs = defaultSilenceMs }: Patience = {}): Api {
  const headers = { authorization: `Bearer ${key}` }
  let reached = false
  const retry = async <A extends Attempt>(attempt: () => Promise<A>): Promise<A> => {
    for (let retries = 0; ; retries++) {
      const answer = await attempt()
      const wait = waits[retries]
      reached ||= answer.status !== unreachable
      if (answer.failure === undefined) return answer
      if (wait === undefined || !reached || !retryable.has(answer.status)) throw answer.failure
      await delay(wait * 1000)
    }
  }
  const send = (path: string, request: RequestInit | (() => RequestInit)) =>
    retry(() => exchange(baseUrl + path, typeof request === 'function' ? request() : request))
  const openBody = async (path: string) => {
    const { response } = await retry(() => open(baseUrl + path, { headers }))
    const body = response?.body
    if (!response || !body) throw problem('INTERNAL', `${path} was answered without a body`)
    return { headers: response.headers, bytes: Readable.fromWeb(body) }
  }
  const waitForResult = async <T>(path: string, { status, data }: Pick<Answer, 'status' | 'data'>): Promise<T> => {
    if (status !== 202) return data as T
    const readJob = async () => (await send(jobPath(path, data), { headers })).data as Job
    return (await pollJob(readJob)) as T
  }
  const get = async <T>(path: string) => waitForResult<T>(path, await send(path, { headers }))
  return {
    baseUrl,
    get,
    async getAll<T>(path: string) {
      const items: T[] = []
      for (let query: string | undefined = '?limit=200'; query !== undefined; ) {
        const { data, link } = await send(path + query, { headers })
        items.push(...(data as T[]))
        const [, next] = /<([^>]*)>;\s*rel="next"/.exec(link ?? '') ?? []
        query = next && new URL(next, baseUrl).search
      }
      return items
    },
    async describe<T>() {
      const { response } = await retry(() => open(`${baseUrl.replace(/\/v1$/, '')}/openapi.json`, {}))
      const failed = () => Promise.reject(problem('INTERNAL', `${baseUrl} is not Kontor: its description cannot be read`))
      return ((await response?.json().catch(failed)) ?? (await failed())) as T
    },
    async download(path) {
      // Starts the job, waits for its end and then fetches its result, so a failure is known before the first byte.
      const { data } = await send(path, { headers: { ...headers, prefer: 'respond-async' } })
      await waitForResult(path, { status: 202, data })
      return (await openBody(`${jobPath(path, data)}/result`)).bytes
    },
    async post<T>(path: string, body: Body) {
      const [type, content] = 'json' in body ? ['application/json', JSON.stringify(body.json)] : ['text/csv', body.csv]
      const request = { method: 'POST', headers: { ...headers, 'content-type': type, 'idempotency-key': randomUUID() }, body: content }
      return waitForResult<T>(path, await send(path, request))
    },
    delete: async <T>(path: string) => (await send(path, { method: 'DELETE', headers })).data as T,
    async upload<T>(path: string, contentType: string, body: () => AsyncIterable<Uint8Array>) {
      const uploadHeaders = { ...headers, 'content-type': contentType, 'idempotency-key': randomUUID() }
      const request = () => ({
        method: 'POST',
        headers: uploadHeaders,
        body: Readable.toWeb(Readable.from(body())) as NonNullable<RequestInit['body']>,
        duplex: 'half' as const,
      })
      return (await send(path, request)).data as T
    },
    async open(path) {
      const { headers: sent, bytes } = await openBody(path)
      return { bytes, size: Number(sent.get('content-length')), sha256: sent.get('etag')?.replaceAll('"', '') ?? '' }
    },
    async *follow(path, lastEventId, signal) {
      const silent = new AbortController()
      const silence = problem('INTERNAL', `${new URL(baseUrl).origin} has sent nothing for ${silenceMs / 1000} s`)
      const listen = () => setTimeout(() => silent.abort(), silenceMs)
      let timer = listen()
      try {
        const { response, failure } = await open(baseUrl + path, {
          headers: { ...headers, accept: 'text/event-stream', 'last-event-id': lastEventId },
          signal: AbortSignal.any([signal, silent.signal]),
        })
        if (!response?.body) throw failure ?? problem('INTERNAL', `${path} was answered without a body`)
        const read = eventReader()
        for await (const piece of Readable.fromWeb(response.body).setEncoding('utf8')) {
          // The time in which the caller works on events is not the server's.
          clearTimeout(timer)
          yield* read(piece as string)
          timer = listen()
        }
      } catch (error) {
        if (silent.signal.aborted) throw silence
        throw error instanceof Problem ? error : unreachableProblem(baseUrl, error)
      } finally {
        clearTimeout(timer)
        silent.abort()
      }
    },
  }
}

/** The path of the job with which a request to a path was answered. */
const jobPath = (path: string, answer: unknown): string =>
  `${path.split('/').slice(0, 3).join('/')}/jobs/${(answer as { job_id: string }).job_id}`

/** One try of a request. */
interface Attempt {
  readonly status: number
  readonly failure: Problem | undefined
}

interface Answer extends Attempt {
  readonly data: unknown
  /** The header Link. */
  readonly link?: string | null
}

interface OpenAnswer extends Attempt {
  readonly response: Response | undefined
}

/** Sends a request once and reads the response's headers, and the body only of a failure. */
async function open(url: string, request: RequestInit): Promise<OpenAnswer> {
  let response: Response
  try {
    response = await fetch(url, request)
  } catch (error) {
    return { status: unreachable, response: undefined, failure: unreachableProblem(url, error) }
  }
  const { status, ok } = response
  if (ok) return { status, response, failure: undefined }
  const text = await response.text()
  const wait = response.headers.get('retry-after')
  const failure = parse(text)?.error ?? { message: `${status} ${text.slice(0, 200)}` }
  return { status, response: undefined, failure: failureOf(failure, wait === null ? {} : { headers: { 'Retry-After': wait } }) }
}

/** Sends a request once and reads the `data` of its response. */
async function exchange(url: string, request: RequestInit): Promise<Answer> {
  const { status, response, failure } = await open(url, request)
  if (!response) return { status, data: undefined, failure }
  const text = await response.text()
  const body = parse(text)
  const foreign = body ? undefined : failureOf({ message: `${status} ${text.slice(0, 200)}` })
  return { status, data: body?.data, link: response.headers.get('link'), failure: foreign }
}

interface ResponseBody {
  readonly data?: unknown
  readonly error?: Failure
}

interface Failure {
  readonly code?: string
  readonly message: string
}

const failureOf = ({ code = '', message }: Failure, options: { readonly headers?: Problem['headers'] } = {}): Problem =>
  problem(Object.hasOwn(errorCatalogue, code) ? (code as ErrorCode) : 'INTERNAL', message, options)

/** The problem of a request without an answer, or of one whose connection broke. */
function unreachableProblem(url: string, error: unknown): Problem {
  const { cause } = error as { cause?: { code?: string; message?: string } }
  return problem('INTERNAL', `${new URL(url).origin} cannot be reached: ${cause?.message || cause?.code || error}`)
}

/** Parses a response body; undefined when it is not JSON, so not from the API. */
function parse(text: string): ResponseBody | undefined {
  try {
    return JSON.parse(text) as ResponseBody
  } catch {
    return undefined
  }
}

interface Job {
  readonly status: 'queued' | 'running' | 'done' | 'failed'
  readonly result: unknown
  readonly error: Failure | null
}

async function pollJob(readJob: () => Promise<Job>): Promise<unknown> {
  for (;;) {
    const { status, result, error } = await readJob()
    if (status === 'done') return result
    if (status === 'failed') throw failureOf(error ?? { message: 'The work failed' })
    await delay(pollMs)
  }
}
