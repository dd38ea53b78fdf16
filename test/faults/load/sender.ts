import { setTimeout as delay } from 'node:timers/promises'
import { hangMs } from '#test/faults/measure.ts'
import { holdContract } from '#test/support/contract.ts'
import { type Answer, sendRequest } from '#test/support/send-request.ts'

/** The load itself continues after this time. */
const givenUpAfterMs = 15_000
const betweenTriesMs = 50

export interface Sent {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Set when a rule may refuse the request by then: 400 and 409 are valid responses. */
  readonly mayBeRefused?: true
}

/** A response; status 0 without one. */
export interface Reply {
  readonly status: number
  /** Its data, or the message of a failure. */
  readonly data: Answer['data']
}

/** Sends requests as one caller to several APIs in turn, and counts the responses. */
export class Sender {
  hung = 0
  failed = 0
  /** Jobs that were reported as failed. */
  givenUp = 0
  slowest = { ms: 0, what: '' }
  /** Responses that no fault explains, each kind once. */
  readonly wrong = new Set<string>()
  readonly #roots: readonly string[]
  readonly #token: string
  #turn = 0

  constructor(roots: readonly string[], token: string) {
    this.#roots = roots
    this.#token = token
  }

  /** Sends a request once. */
  async once(request: Sent): Promise<Reply> {
    const root = this.#roots[this.#turn++ % this.#roots.length] ?? ''
    const began = performance.now()
    const reply = await this.#send(root, request)
    const ms = performance.now() - began
    if (ms > this.slowest.ms) this.slowest = { ms, what: `${request.method} ${request.path.split('/').slice(4).map(nameless).join('/')}` }
    if (ms > hangMs) this.hung += 1
    if (isFailure(reply)) this.failed += 1
    else if (reply.status >= 400 && !([400, 409].includes(reply.status) && request.mayBeRefused))
      this.wrong.add(`${request.method} ${nameless(request.path)} was answered ${reply.status} ${reply.data}`)
    return reply
  }

  /** Repeats a request until its response is not an internal error, or `signal` aborts. */
  async persistently(request: Sent, signal: AbortSignal): Promise<Reply> {
    for (;;) {
      const reply = await this.once(request)
      if (!isFailure(reply) || signal.aborted) return reply
      await delay(betweenTriesMs)
    }
  }

  async #send(root: string, { method, path, body, headers }: Sent): Promise<Reply> {
    try {
      const answer = await sendRequest(root + path, {
        method,
        headers: {
          authorization: `Bearer ${this.#token}`,
          ...headers,
        },
        body,
        signal: AbortSignal.timeout(givenUpAfterMs),
      })
      this.#hold(method, path, answer)
      return { status: answer.status, data: answer.status < 300 ? answer.data : answer.body?.error?.message }
    } catch {
      return { status: 0, data: undefined }
    }
  }

  #hold(method: string, path: string, answer: Parameters<typeof holdContract>[2]): void {
    try {
      holdContract(method, path, answer)
    } catch (error) {
      this.wrong.add(nameless((error as Error).message))
    }
  }
}

const isFailure = ({ status }: Reply): boolean => status === 0 || status >= 500

/** Messages without ids, which differ each time. */
const nameless = (text: string): string => text.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '…')
