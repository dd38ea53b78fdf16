import { Pool } from 'undici'

/** One request of the run. */
export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Its result: status 0 with the reason if there was no answer. */
export interface Reply {
  readonly status: number
  readonly text: string
  readonly failure?: string
}

/** The load balancer in front of the APIs. */
export interface Client {
  readonly send: (call: Call) => Promise<Reply>
  readonly close: () => Promise<void>
}

/** Longer than the API lets a caller wait for a worker. */
const timeoutMs = 90_000

/**
 * Sends to the APIs in rotation. If one refuses the connection, it has not received the request, and the next one gets it. An interrupted
 * request is not sent again, since it may have been carried out.
 */
export function openClient(urls: readonly string[], token: string): Client {
  const options = { connections: 64, pipelining: 1, headersTimeout: timeoutMs, bodyTimeout: timeoutMs, connect: { timeout: 2_000 } }
  const pools = urls.map((url) => new Pool(url, options))
  let sent = 0
  const once = async (pool: Pool, { method, path, body, headers }: Call): Promise<Reply> => {
    const answer = await pool.request({
      method,
      path,
      headers: { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body }),
    })
    return { status: answer.statusCode, text: await answer.body.text() }
  }
  return {
    send: async (call) => {
      const first = sent++
      for (let attempt = 0; ; attempt++) {
        try {
          return await once(pools[(first + attempt) % pools.length] as Pool, call)
        } catch (error) {
          const reason = (error as NodeJS.ErrnoException).code ?? String(error)
          if (reason !== 'ECONNREFUSED' || attempt + 1 >= pools.length) return { status: 0, text: '', failure: reason }
        }
      }
    },
    close: async () => {
      await Promise.all(pools.map((pool) => pool.close()))
    },
  }
}
