import { createServer } from 'node:net'

/** A port of 127.0.0.1 that nothing uses at this moment. */
export function freePort(): Promise<number> {
  return probe(0, '127.0.0.1').then((port) => {
    if (port === null) throw new Error('This machine has no free port.')
    return port
  })
}

/** Whether a server could listen on this port of all addresses now. */
export async function isFree(port: number): Promise<boolean> {
  return (await probe(port)) !== null
}

function probe(port: number, host?: string): Promise<number | null> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(null))
    server.listen({ port, host, exclusive: true }, () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : null))
    })
  })
}
