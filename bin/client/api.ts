import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { type ErrorCode, errorCatalogue, type Problem, problem } from '#shared/platform/kernel/errors.ts'

/** A body to be serialized as JSON, or CSV text or bytes. */
type Body = { readonly json: unknown } | { readonly csv: string | Uint8Array<ArrayBuffer> }

/**
 * Client of the API for one key; methods return the `data` of a response. They throw the Problem of the response, or INTERNAL when the
 * response is not from the API or there is none.
 */
export interface Api {
  readonly baseUrl: string
  readonly get: <T>(path: string) => Promise<T>
  /** Downloads a file that a worker produces. */
  readonly download: (path: string) => Promise<Readable>
  /** Retries carry the same idempotency key, so the request is carried out at most once. Waits for the job of a 202 response. */
  readonly post: <T>(path: string, body: Body) => Promise<T>
  readonly delete: <T>(path: string) => Promise<T>
  /** Sends a body of any type. `body` is called again for each retry. */
  readonly upload: <T>(path: string, contentType: string, body: () => AsyncIterable<Uint8Array>) => Promise<T>
  /** Downloads a stored file, with the size and SHA-256 digest that the API reports. */
  readonly open: (path: string) => Promise<{ readonly bytes: Readable; readonly size: number; readonly sha256: string }>
}

/** Default seconds before each retry of a failure on the server's side (document 1, Errors, rule 5). */
const defaultWaits = [0.5, 1, 2, 4, 8]
/** Status of an attempt without a response. */
const unreachable = 0
const retryable = new Set([429, 500, 502, 503, unreachable])

/** Polling interval of a job. */
const pollMs = 500

/** Retry policy of a client. */
interface RetryPolicy {
  /** Seconds before each retry; empty for no retries. */
  readonly waits: readonly number[]
}

/** Creates a client of the API at a base address. Nothing is retried until the API has answered once. */
export function connectApi(baseUrl: string, key: string, { waits }: RetryPolicy = { waits: defaultWaits }): Api {
  const headers = { authorization: `Bearer ${key}` }
  let reached = false
  const send = async (path: string, request: RequestInit | (() => RequestInit)): Promise<Answer> => {
    for (let retries = 0; ; retries++) {
      const answer = await attempt(baseUrl + path, typeof request === 'function' ? request() : request)
      const wait = waits[retries]
      reached ||= answer.status !== unreachable
      if (answer.failure === undefined) return answer
      if (wait === undefined || !reached || !retryable.has(answer.status)) throw answer.failure
      await delay(wait * 1000)
    }
  }
  const waitForResult = async <T>(path: string, { status, data }: Pick<Answer, 'status' | 'data'>): Promise<T> => {
    if (status !== 202) return data as T
    const org = path.split('/').slice(0, 3).join('/')
    const readJob = async () => (await send(`${org}/jobs/${(data as { job_id: string }).job_id}`, { headers })).data as Job
    return (await pollJob(readJob)) as T
  }
  const get = async <T>(path: string) => waitForResult<T>(path, await send(path, { headers }))
  return {
    baseUrl,
    get,
    async download(path) {
      // Start the job, wait until it is done, then fetch its result: a failure is then known before the first byte.
      const { data } = await send(path, { headers: { ...headers, prefer: 'respond-async' } })
      await waitForResult(path, { status: 202, data })
      const org = path.split('/').slice(0, 3).join('/')
      const response = await fetch(`${baseUrl}${org}/jobs/${(data as { job_id: string }).job_id}/result`, { headers })
      if (!response.ok || !response.body) throw failureOf(parse(await response.text())?.error ?? { message: `${response.status}` })
      return Readable.fromWeb(response.body)
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
      const response = await fetch(baseUrl + path, { headers })
      if (!response.ok || !response.body) throw failureOf(parse(await response.text())?.error ?? { message: `${response.status}` })
      const sha256 = response.headers.get('etag')?.replaceAll('"', '') ?? ''
      return { bytes: Readable.fromWeb(response.body), size: Number(response.headers.get('content-length')), sha256 }
    },
  }
}

interface Answer {
  readonly status: number
  readonly data: unknown
  readonly failure: Problem | undefined
}

/** Sends a request once. */
async function attempt(url: string, request: RequestInit): Promise<Answer> {
  let response: Response
  try {
    response = await fetch(url, request)
  } catch (error) {
    const { cause } = error as { cause?: { code?: string; message?: string } }
    const failure = problem('INTERNAL', `${new URL(url).origin} cannot be reached: ${cause?.message || cause?.code || error}`)
    return { status: unreachable, data: undefined, failure }
  }
  const { status, ok } = response
  const text = await response.text()
  const body = parse(text)
  if (ok && body) return { status, data: body.data, failure: undefined }
  return { status, data: undefined, failure: failureOf(body?.error ?? { message: `${status} ${text.slice(0, 200)}` }) }
}

interface ResponseBody {
  readonly data?: unknown
  readonly error?: Failure
}

interface Failure {
  readonly code?: string
  readonly message: string
}

const failureOf = ({ code = '', message }: Failure): Problem =>
  problem(Object.hasOwn(errorCatalogue, code) ? (code as ErrorCode) : 'INTERNAL', message)

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
