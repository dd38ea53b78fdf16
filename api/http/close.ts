import type { Server, ServerResponse } from 'node:http'
import { Server as NetServer } from 'node:net'

/** How long a connection that is kept may still bring a request, whose sender could not know that we stop. */
const lastRequestMs = 500

/**
 * Lets a server end without any caller noticing, which Node's own `close` does not: that breaks off connections that rest, on which a proxy
 * may just be sending a request, and keeps those that are busy until the grace is over. Here nothing new is let in, every answer from now on
 * says that its connection ends with it, and those that bring no request for a moment are ended then. Resolves when all is answered, or
 * broken off after `graceMs`.
 */
export function closing(server: Server): (graceMs: number) => Promise<void> {
  const open = new Set<ServerResponse>()
  let isClosing = false
  server.prependListener('request', (_request, response: ServerResponse) => {
    open.add(response)
    response.once('close', () => open.delete(response))
    if (isClosing) response.shouldKeepAlive = false
  })
  return async (graceMs) => {
    // Connections that wait to be accepted are accepted first.
    await new Promise(setImmediate)
    isClosing = true
    const closed = new Promise((resolve) => NetServer.prototype.close.call(server, resolve))
    for (const response of open) response.shouldKeepAlive = false
    const timers = [
      // What has arrived is read before it is looked who rests.
      setTimeout(() => setImmediate(() => server.closeIdleConnections()), Math.min(lastRequestMs, graceMs)),
      setTimeout(() => server.closeAllConnections(), graceMs),
    ]
    await closed
    for (const timer of timers) clearTimeout(timer)
  }
}
