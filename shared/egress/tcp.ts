import type { Socket } from 'node:net'
import { startClock } from '#shared/egress/clock.ts'
import type { Door } from '#shared/egress/door.ts'
import { EgressFailure } from '#shared/egress/failure.ts'
import { canonicalHost, type Endpoint } from '#shared/egress/host.ts'

interface Dial extends Endpoint {
  /** Speaks TLS from the first byte; the certificate must be the name's. */
  readonly tls: boolean
  readonly signal: AbortSignal
}

/** Connects to an endpoint through a door. The socket belongs to the caller, who ends it; the signal destroys it at any time. */
export async function connectThrough(door: Door, { host, port, tls, signal }: Dial): Promise<Socket> {
  const addresses = await door.addressesOf({ host, port }, signal)
  signal.throwIfAborted()
  const socket = door.wire.connect({ host, port, addresses, tls })
  const destroy = () => socket.destroy(signal.reason as Error)
  signal.addEventListener('abort', destroy, { once: true })
  socket.once('close', () => signal.removeEventListener('abort', destroy))
  return new Promise((resolve, reject) => {
    socket.once('error', reject)
    socket.once(tls ? 'secureConnect' : 'connect', () => {
      socket.off('error', reject)
      resolve(socket)
    })
  })
}

interface Exchange {
  readonly host: string
  readonly port: number
  readonly tls: boolean
  /** The clock over the whole exchange, from resolving the name to the last byte, in milliseconds. */
  readonly timeoutMs: number
  /** Bytes that the other side may send, all told. */
  readonly maxBytes: number
  readonly signal?: AbortSignal | undefined
}

/** How often what has come in is counted, in milliseconds: the protocol above reads the socket itself. */
const countEvery = 100

/**
 * Runs an exchange over a TCP connection that is dialled through a door, and ends the connection with it. Throws what the work throws, and
 * an EgressFailure for an endpoint that may not or cannot be dialled, for a clock that has run out, and for too many bytes.
 */
export async function exchangeTcp<T>(door: Door, exchange: Exchange, work: (socket: Socket) => Promise<T>): Promise<T> {
  const clock = startClock(exchange.timeoutMs, exchange.signal)
  let socket: Socket | undefined
  let counter: NodeJS.Timeout | undefined
  const flood = new EgressFailure('too_large', `The server sent more than ${exchange.maxBytes} bytes`)
  try {
    const { port, tls } = exchange
    const host = canonicalHost(exchange.host)
    const dialled = await clock.race(connectThrough(door, { host, port, tls, signal: clock.signal })).catch((error) => {
      throw clock.explain(error)
    })
    socket = dialled
    counter = setInterval(() => dialled.bytesRead > exchange.maxBytes && dialled.destroy(flood), countEvery)
    return await clock.race(work(dialled))
  } catch (error) {
    throw clock.signal.aborted ? clock.signal.reason : error
  } finally {
    clearInterval(counter)
    clock.stop()
    socket?.destroy()
  }
}
