import { connect, createServer, type Server, type Socket } from 'node:net'

/** A connection to the API that can be cut and restored. */
export function cable(port: () => number) {
  const sockets = new Set<Socket>()
  let server: Server | undefined
  const plug = (at = 0) =>
    new Promise<number>((resolve) => {
      const made = createServer((socket) => {
        const there = connect(port(), '127.0.0.1')
        for (const one of [socket, there]) sockets.add(one.on('error', () => undefined))
        socket.pipe(there).pipe(socket)
      })
      server = made
      made.listen(at, '127.0.0.1', () => resolve((made.address() as { port: number }).port))
    })
  const cut = () =>
    new Promise((resolve) => {
      server?.close(resolve)
      for (const socket of sockets) socket.destroy()
      sockets.clear()
    })
  return { plug, cut }
}
