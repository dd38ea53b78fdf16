import { Agent, request } from 'undici'
import { startClock } from '#shared/egress/clock.ts'
import type { Door } from '#shared/egress/door.ts'
import { EgressFailure } from '#shared/egress/failure.ts'
import { endpointOf } from '#shared/egress/host.ts'
import { inflate } from '#shared/egress/inflate.ts'
import { connectThrough } from '#shared/egress/tcp.ts'

export interface HttpCall {
  readonly url: string
  readonly method: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer | null
  /** The clock over everything, from resolving the name to the last byte of the answer, in milliseconds. */
  readonly timeoutMs: number
  /** Bytes that the answer's body may have, as sent and once more inflated. */
  readonly maxBytes: number
  readonly signal?: AbortSignal | undefined
}

export interface HttpAnswer {
  readonly status: number
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** The body, inflated. */
  readonly body: Buffer
}

/** Headers that say where a message goes or ends: they are made from the call, or a request could be smuggled inside another. */
export const reservedHeaders: ReadonlySet<string> = new Set([
  ...['host', 'connection', 'content-length', 'transfer-encoding', 'upgrade'],
  ...['expect', 'keep-alive', 'proxy-connection', 'te', 'trailer'],
])

/**
 * Calls an http or https address through a door and reads the whole answer. Redirects are not followed: the 302 is the answer. Throws an
 * EgressFailure, or the reason of the caller's signal.
 */
export async function callHttp(door: Door, call: HttpCall): Promise<HttpAnswer> {
  const { url } = endpointOf(call.url)
  const reserved = Object.keys(call.headers ?? {}).find((name) => reservedHeaders.has(name.toLowerCase()))
  if (reserved !== undefined) throw new EgressFailure('refused', `The header ${reserved} cannot be set`)
  const clock = startClock(call.timeoutMs, call.signal)
  // No connection is kept: the next call resolves and checks the name again.
  const agent = new Agent({
    connect: (_options, callback) => {
      const { host, port, tls } = endpointOf(call.url)
      connectThrough(door, { host, port, tls, signal: clock.signal }).then(
        (socket) => callback(null, socket),
        (error) => callback(error, null),
      )
    },
    headersTimeout: 0,
    bodyTimeout: 0,
    maxResponseSize: call.maxBytes,
  })
  try {
    return await clock.race(exchange(agent, url, call, clock.signal))
  } catch (error) {
    throw refusal(error, call.maxBytes) ?? clock.explain(error)
  } finally {
    clock.stop()
    void agent.destroy()
  }
}

async function exchange(agent: Agent, url: URL, call: HttpCall, signal: AbortSignal): Promise<HttpAnswer> {
  const { method, headers = {}, body = null, maxBytes } = call
  // Frozen headers of the caller are copied; the method is checked by undici, which throws for what is none.
  const options = { dispatcher: agent, method: method as 'GET', headers: { ...headers }, body, signal }
  const answer = await request(url, options)
  const bytes = Buffer.from(await answer.body.arrayBuffer())
  return {
    status: answer.statusCode,
    headers: answer.headers,
    body: await inflate(bytes, answer.headers['content-encoding'], maxBytes),
  }
}

function refusal(error: unknown, maxBytes: number): EgressFailure | undefined {
  const { code, message } = error as { code?: unknown; message?: unknown }
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return new EgressFailure('too_large', `The answer has more than ${maxBytes} bytes`, error)
  if (code === 'UND_ERR_INVALID_ARG') return new EgressFailure('refused', `The call cannot be sent: ${message}`, error)
  return undefined
}
