import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { type ErrorCode, errorCatalogue, type Problem, problem } from '#shared/platform/kernel/errors.ts'

/** A body of JSON, or of CSV as it is. */
type Body = { readonly json: unknown } | { readonly csv: string | Uint8Array<ArrayBuffer> }

/**
 * Calls the API as the holder of a key; gives what an answer holds under `data`. Throws the Problem that the API answered, and INTERNAL when
 * something else answered or nothing did.
 */
export interface Api {
  readonly baseUrl: string
  readonly get: <T>(path: string) => Promise<T>
  /** The bytes of a file that a worker makes. */
  readonly download: (path: string) => Promise<Readable>
  /** The same request is never carried out twice, however often it has to be sent. Work that a worker takes long over is waited for. */
  readonly post: <T>(path: string, body: Body) => Promise<T>
  readonly delete: <T>(path: string) => Promise<T>
  /** Sends a body of any type that can be made again, for when it has to be sent again. */
  readonly upload: <T>(path: string, contentType: string, body: () => AsyncIterable<Uint8Array>) => Promise<T>
  /** The bytes of a file, with the size and the digest that the API tells of them. */
  readonly open: (path: string) => Promise<{ readonly bytes: Readable; readonly size: number; readonly sha256: string }>
}

/** Seconds before each further try of what failed on the server's side (document 1, Errors, rule 5). */
const patient = [0.5, 1, 2, 4, 8]
/** Stands where no answer came. */
const unreachable = 0
const passing = new Set([429, 500, 502, 503, unreachable])

/** How often work that takes longer than its caller may wait is looked at, in milliseconds. */
const lookMs = 500

/** How a caller behaves. */
interface Manner {
  /** Seconds before each further try; none to hear of a failure at once. */
  readonly waits: readonly number[]
}

/** Makes a caller of the API at this base address. One that was never reached is not tried again. */
export function connectApi(baseUrl: string, key: string, { waits }: Manner = { waits: patient }): Api {
  const headers = { authorization: `Bearer ${key}` }
  let reached = false
  const send = async (path: string, request: RequestInit | (() => RequestInit)): Promise<Answer> => {
    for (let tries = 0; ; tries++) {
      const answer = await attempt(baseUrl + path, typeof request === 'function' ? request() : request)
      const wait = waits[tries]
      reached ||= answer.status !== unreachable
      if (answer.failure === undefined) return answer
      if (wait === undefined || !reached || !passing.has(answer.status)) throw answer.failure
      await delay(wait * 1000)
    }
  }
  const finished = async <T>(path: string, { status, data }: Pick<Answer, 'status' | 'data'>): Promise<T> => {
    if (status !== 202) return data as T
    const org = path.split('/').slice(0, 3).join('/')
    const look = async () => (await send(`${org}/jobs/${(data as { job_id: string }).job_id}`, { headers })).data as Job
    return (await settled(look)) as T
  }
  const get = async <T>(path: string) => finished<T>(path, await send(path, { headers }))
  return {
    baseUrl,
    get,
    async download(path) {
      // A file is not read before it is known to be one: its job is begun, waited for, and then its result is fetched.
      const { data } = await send(path, { headers: { ...headers, prefer: 'respond-async' } })
      await finished(path, { status: 202, data })
      const org = path.split('/').slice(0, 3).join('/')
      const response = await fetch(`${baseUrl}${org}/jobs/${(data as { job_id: string }).job_id}/result`, { headers })
      if (!response.ok || !response.body) throw failureOf(parse(await response.text())?.error ?? { message: `${response.status}` })
      return Readable.fromWeb(response.body)
    },
    async post<T>(path: string, body: Body) {
      const [type, content] = 'json' in body ? ['application/json', JSON.stringify(body.json)] : ['text/csv', body.csv]
      const request = { method: 'POST', headers: { ...headers, 'content-type': type, 'idempotency-key': randomUUID() }, body: content }
      return finished<T>(path, await send(path, request))
    },
    delete: async <T>(path: string) => (await send(path, { method: 'DELETE', headers })).data as T,
    async upload<T>(path: string, contentType: string, body: () => AsyncIterable<Uint8Array>) {
      const own = { ...headers, 'content-type': contentType, 'idempotency-key': randomUUID() }
      const request = () => ({
        method: 'POST',
        headers: own,
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

/** One try. */
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

interface Answered {
  readonly data?: unknown
  readonly error?: Failure
}

interface Failure {
  readonly code?: string
  readonly message: string
}

const failureOf = ({ code = '', message }: Failure): Problem =>
  problem(Object.hasOwn(errorCatalogue, code) ? (code as ErrorCode) : 'INTERNAL', message)

/** The JSON of an answer; undefined when whoever answered is not the API. */
function parse(text: string): Answered | undefined {
  try {
    return JSON.parse(text) as Answered
  } catch {
    return undefined
  }
}

interface Job {
  readonly status: 'queued' | 'running' | 'done' | 'failed'
  readonly result: unknown
  readonly error: Failure | null
}

async function settled(look: () => Promise<Job>): Promise<unknown> {
  for (;;) {
    const { status, result, error } = await look()
    if (status === 'done') return result
    if (status === 'failed') throw failureOf(error ?? { message: 'The work failed' })
    await delay(lookMs)
  }
}
