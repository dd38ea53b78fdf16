import type { Socket } from 'node:net'
import { startDeadline } from '#shared/platform/egress/deadline.ts'
import type { Dialer } from '#shared/platform/egress/dialer.ts'
import { canonicalHost, type Endpoint } from '#shared/platform/egress/endpoint.ts'
import { EgressFailure } from '#shared/platform/egress/failure.ts'

interface Dial extends Endpoint {
  /** Whether to use TLS from the first byte; the certificate must match the host. */
  readonly tls: boolean
  readonly signal: AbortSignal
}

/** Connects to an endpoint through a dialer. The caller must end the socket; the signal destroys it at any time. */
export async function dialSocket(dialer: Dialer, { host, port, tls, signal }: Dial): Promise<Socket> {
  const addresses = await dialer.resolveAddresses({ host, port }, signal)
  signal.throwIfAborted()
  const socket = dialer.network.connect({ host, port, addresses, tls })
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
  /** Timeout in milliseconds from resolving the name to the last byte. */
  readonly timeoutMs: number
  /** Maximum number of bytes that the server may send in total. */
  readonly maxBytes: number
  readonly signal?: AbortSignal | undefined
}

/** Interval in milliseconds of checking the received bytes; they are polled because the caller's protocol reads the socket itself. */
const checkIntervalMs = 100

/**
 * Runs an exchange over a TCP connection that a dialer opens, and closes the connection afterwards. Throws the work's errors, and an
 * EgressFailure for an endpoint that is refused or unreachable, for a timeout and for too many bytes.
 */
export async function exchangeTcp<T>(dialer: Dialer, exchange: Exchange, work: (socket: Socket) => Promise<T>): Promise<T> {
  const deadline = startDeadline(exchange.timeoutMs, exchange.signal)
  let socket: Socket | undefined
  let sizeCheck: NodeJS.Timeout | undefined
  const tooLarge = new EgressFailure('too_large', `The server sent more than ${exchange.maxBytes} bytes`)
  try {
    const { port, tls } = exchange
    const host = canonicalHost(exchange.host)
    const dialled = await deadline.race(dialSocket(dialer, { host, port, tls, signal: deadline.signal })).catch((error) => {
      throw deadline.errorToThrow(error)
    })
    socket = dialled
    sizeCheck = setInterval(() => dialled.bytesRead > exchange.maxBytes && dialled.destroy(tooLarge), checkIntervalMs)
    return await deadline.race(work(dialled))
  } catch (error) {
    throw deadline.signal.aborted ? deadline.signal.reason : error
  } finally {
    clearInterval(sizeCheck)
    deadline.stop()
    socket?.destroy()
  }
}
