import { type IncomingMessage, type Server, ServerResponse } from 'node:http'
import { Server as NetServer } from 'node:net'

/**
 * Idle connections stay open until no answer has begun for this long: a client may have sent a request before it could learn of the closing.
 * Each answer ends its connection, so a proxy under load uses up those that it keeps.
 */
const defaultQuietMs = 500

/**
 * Milliseconds without a byte after which the connection of an answer that is being sent is closed: its client does not read. The default of
 * `send_timeout` in nginx.
 */
const defaultUnreadMs = 60_000

/** Parts of a server that closes without failing a caller. */
export interface GracefulClose {
  /** Option `ServerResponse` of `createServer`. Its responses end keep-alive once closing began, and their connection when nobody reads them. */
  readonly ServerResponse: typeof ServerResponse<IncomingMessage>
  /** Resolves when every request is answered; after `graceMs` the remaining connections are destroyed. */
  readonly close: (server: Server, graceMs: number) => Promise<void>
}

/**
 * Closes a server without failing a caller. Node's own `close` destroys idle connections, on which a proxy may just be sending a request,
 * and keeps busy ones alive until the grace ends. This one accepts no new connection, sends `Connection: close` with every further answer,
 * and closes idle connections once no answer has begun for `quietMs`. Connections of answers that are not read are closed after `unreadMs`.
 */
export function createGracefulClose({ unreadMs = defaultUnreadMs, quietMs = defaultQuietMs } = {}): GracefulClose {
  let isClosing = false
  let lastAnswerAt = 0
  /**
   * Checks `isClosing` when an answer begins. A set of the open answers, to be notified of the closing, would keep them in memory until a major
   * garbage collection (measured: the 99th percentile of a GET was 4.6 ms with such a set, and 2.7 ms without).
   */
  class Answer extends ServerResponse<IncomingMessage> {
    override writeHead(...given: unknown[]): this {
      if (isClosing) {
        this.shouldKeepAlive = false
        lastAnswerAt = performance.now()
      }
      this.setTimeout(unreadMs)
      return super.writeHead(...(given as Parameters<ServerResponse['writeHead']>))
    }
  }
  const close = async (server: Server, graceMs: number): Promise<void> => {
    // Lets the server accept the connections that already wait for it.
    await new Promise(setImmediate)
    isClosing = true
    lastAnswerAt = performance.now()
    const closed = new Promise((resolve) => NetServer.prototype.close.call(server, resolve))
    const closeIdle = () => {
      const leftMs = lastAnswerAt + quietMs - performance.now()
      if (leftMs > 0) idleTimer = setTimeout(closeIdle, leftMs)
      // `setImmediate`: requests that have arrived are read first, so that their connections do not count as idle.
      else setImmediate(() => server.closeIdleConnections())
    }
    let idleTimer = setTimeout(closeIdle, quietMs)
    const graceTimer = setTimeout(() => server.closeAllConnections(), graceMs)
    await closed
    clearTimeout(idleTimer)
    clearTimeout(graceTimer)
  }
  return { ServerResponse: Answer, close }
}
