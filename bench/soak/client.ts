import { Pool } from 'undici'

/** One request of the run. */
export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** What came of it: status 0 when there was no answer, with the reason. */
export interface Reply {
  readonly status: number
  readonly text: string
  readonly failure?: string
}

/** The way in: what stands before the APIs and spreads requests over them. */
export interface Client {
  readonly send: (call: Call) => Promise<Reply>
  readonly close: () => Promise<void>
}

/** Longer than the API lets anybody wait for a worker. */
const timeoutMs = 90_000

/**
 * Sends to the APIs in turn. One that refuses the connection has not heard of the request, so the next one is asked; a request that was
 * cut off is not sent again, since it may have been done.
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
