import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request that the receiver got. */
export interface Received {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** A server outside Kontor that flows call: its requests, answered by their path. */
export interface Receiver {
  readonly host: string
  readonly url: string
  readonly received: Received[]
  readonly close: () => void
}

type Answer = (request: Received, response: ServerResponse) => void

/** Starts one on a port of its own; a world reaches it with `EGRESS_ALLOW` naming its host. */
export async function startReceiver(answer: Answer): Promise<Receiver> {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { method = '', url = '', headers } = request
    const one = { method, url, headers, body: Buffer.concat(chunks).toString() }
    received.push(one)
    answer(one, response)
  })
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    host,
    url: `http://${host}`,
    received,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
