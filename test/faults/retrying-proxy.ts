import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import type { Teardown } from '#test/faults/case.ts'

/** An API may be away for a moment, but not longer. */
const triedForMs = 10_000
const betweenTriesMs = 20

export interface Proxy {
  readonly root: string
  /** Requests that broke off and could not be repeated, with the reason. */
  readonly failures: readonly string[]
}

/**
 * A proxy in front of several APIs as in production: it keeps connections open, sends a request to the next API when the first does not
 * accept it, and repeats reads, writes of values and requests with an Idempotency-Key.
 */
export async function startRetryingProxy(t: Teardown, roots: readonly string[]): Promise<Proxy> {
  const agent = new Agent({ keepAlive: true })
  const failures: string[] = []
  let turn = 0
  const server = createServer(async (incoming, outgoing) => {
    const body = await buffer(incoming).catch(() => undefined)
    if (!body) return
    for (const end = Date.now() + triedForMs; ; await delay(betweenTriesMs)) {
      const answer = await pass(agent, roots[turn++ % roots.length] ?? '', incoming, body)
      if (answer instanceof Error && mayRepeat(incoming, answer) && Date.now() < end) continue
      if (answer instanceof Error) failures.push(`${incoming.method}: ${answer.message}`)
      return reply(outgoing, answer)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
    agent.destroy()
  })
  return { root: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, failures }
}

interface Passed {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
}

async function pass(agent: Agent, root: string, { method, url, headers }: IncomingMessage, body: Buffer): Promise<Passed | Error> {
  const { connection: _, 'transfer-encoding': __, ...kept } = headers
  const outgoing = request(root + url, { agent, method, headers: { ...kept, 'content-length': body.length } })
  outgoing.end(body)
  try {
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage]
    return { status: incoming.statusCode ?? 0, headers: incoming.headers, body: await buffer(incoming) }
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException
    return Object.assign(new Error(`${message}, on a ${outgoing.reusedSocket ? 'kept' : 'new'} connection`), { code })
  }
}

/** A refused connection has carried nothing of any request. */
const mayRepeat = ({ method, headers }: IncomingMessage, error: NodeJS.ErrnoException): boolean =>
  method !== 'POST' || headers['idempotency-key'] !== undefined || error.code === 'ECONNREFUSED'

function reply(outgoing: ServerResponse, answer: Passed | Error): void {
  if (answer instanceof Error) return void outgoing.destroy()
  const { connection: _, 'transfer-encoding': __, 'keep-alive': ___, ...headers } = answer.headers
  outgoing.writeHead(answer.status, headers).end(answer.body)
}
