import type { Socket } from 'node:net'
import { startClock } from '#shared/egress/clock.ts'
import type { Door } from '#shared/egress/door.ts'
import { EgressFailure } from '#shared/egress/failure.ts'
import { canonicalHost, type Endpoint } from '#shared/egress/host.ts'

interface DialOptions extends Endpoint {
  /** Uses TLS from the first byte; the certificate must match the host. */
  readonly tls: boolean
  readonly signal: AbortSignal
}

/** Connects to an endpoint through a dialer. The caller owns the socket and must close it; the signal destroys it at any time. */
export async function connectThrough(dialer: Door, { host, port, tls, signal }: DialOptions): Promise<Socket> {
  const addresses = await dialer.addressesOf({ host, port }, signal)
  signal.throwIfAborted()
  const socket = dialer.wire.connect({ host, port, addresses, tls })
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
  /** Deadline in milliseconds, from resolving the name to the last byte. */
  readonly timeoutMs: number
  /** Maximum total of bytes that the server may send. */
  readonly maxBytes: number
  readonly signal?: AbortSignal | undefined
}

/** Interval in milliseconds for checking the received bytes. The protocol reads the socket itself, so they cannot be counted on arrival. */
const countIntervalMs = 100

/**
 * Runs an exchange over a TCP connection that a dialer opens, then closes the connection. Rethrows errors of the work. Throws an
 * EgressFailure for an endpoint that may not or cannot be dialled, for a passed deadline, and for too many bytes.
 */
export async function exchangeTcp<T>(dialer: Door, exchange: Exchange, work: (socket: Socket) => Promise<T>): Promise<T> {
  const deadline = startClock(exchange.timeoutMs, exchange.signal)
  let socket: Socket | undefined
  let counter: NodeJS.Timeout | undefined
  const tooLarge = new EgressFailure('too_large', `The server sent more than ${exchange.maxBytes} bytes`)
  try {
    const { port, tls } = exchange
    const host = canonicalHost(exchange.host)
    const connected = await deadline.race(connectThrough(dialer, { host, port, tls, signal: deadline.signal })).catch((error) => {
      throw deadline.explain(error)
    })
    socket = connected
    counter = setInterval(() => connected.bytesRead > exchange.maxBytes && connected.destroy(tooLarge), countIntervalMs)
    return await deadline.race(work(connected))
  } catch (error) {
    throw deadline.signal.aborted ? deadline.signal.reason : error
  } finally {
    clearInterval(counter)
    deadline.stop()
    socket?.destroy()
  }
}
