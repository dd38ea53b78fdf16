import { holdContract } from '#test/support/contract.ts'
import { type Answer, sendRequest } from '#test/support/send-request.ts'

/** Repetitions of a call that is OVERLOADED or found no database, and the pause before each in milliseconds. */
const retries = 30
const retryAfterMs = 200

/**
 * Calls the API over HTTP as one caller. A call that is OVERLOADED, or for which a busy database could not be reached, has changed nothing and is
 * repeated, as clients of users do, so that no test depends on the load of the machine.
 */
export class Client {
  readonly root: string
  readonly token: string | null
  readonly #retries: number

  constructor(root: string, token: string | null, retriesLeft = retries) {
    this.root = root
    this.token = token
    this.#retries = retriesLeft
  }

  /** The same server as another caller. */
  as(token: string | null): Client {
    return new Client(this.root, token, this.#retries)
  }

  /** The same caller without repetitions. */
  withoutRetries(): Client {
    return new Client(this.root, this.token, 0)
  }

  get = (path: string, headers?: Record<string, string>) => this.send('GET', path, undefined, headers)
  post = (path: string, body?: unknown, headers?: Record<string, string>) => this.send('POST', path, body, headers)
  put = (path: string, body?: unknown, headers?: Record<string, string>) => this.send('PUT', path, body, headers)
  patch = (path: string, body?: unknown, headers?: Record<string, string>) => this.send('PATCH', path, body, headers)
  delete = (path: string, headers?: Record<string, string>) => this.send('DELETE', path, undefined, headers)

  /** Sends JSON, or text, bytes and forms unchanged. Throws when a response below `/v1` breaks the API's description. */
  async send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    for (let left = this.#retries; ; left--) {
      const answer = await this.#sendOnce(method, path, body, headers)
      const { code, message } = answer.body?.error ?? {}
      const isRefused = answer.status === 503 && (code === 'OVERLOADED' || message === 'The database cannot be reached; try again soon')
      if (!isRefused || left === 0 || body instanceof ReadableStream) return answer
      await new Promise((resolve) => setTimeout(resolve, retryAfterMs))
    }
  }

  async #sendOnce(method: string, path: string, body: unknown, headers: Record<string, string>): Promise<Answer> {
    const answer = await sendRequest(this.root + path, {
      method,
      headers: {
        ...(this.token === null ? {} : { authorization: `Bearer ${this.token}` }),
        ...headers,
      },
      body,
    })
    if (path.startsWith('/v1')) holdContract(method, path, answer)
    return answer
  }
}
