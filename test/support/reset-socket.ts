import type { Socket } from 'node:net'

/**
 * Ends a connection by RST. Node does not close a socket that is reset while its end is being sent (uv_tcp_close_reset fails), and its thread
 * then never exits; such a socket is destroyed.
 */
export function resetSocket(socket: Socket): void {
  if (socket.writableEnded) socket.destroy()
  else socket.resetAndDestroy()
}
