import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ExecutionContext } from 'ava'
import { startFauxqs } from 'fauxqs'

/** Faults of the S3 server: calls that fail, responses that are cut, and delays. */
export interface Trouble {
  /** Share of calls that fail, 0 to 1; failures are 500, 503 and broken connections in turn. */
  failures: number
  /** Share of responses with a body that are cut in the middle, 0 to 1. */
  cuts: number
  delayMs: number
}

/** An S3 server of the test in memory, behind a proxy that can cause faults. */
export interface TestS3 {
  /** Variables with which Kontor uses it. */
  readonly environment: Readonly<Record<string, string>>
  readonly trouble: Trouble
  /** The keys that it holds, without the store's name. */
  readonly keys: () => Promise<string[]>
  /** The calls so far, by method. */
  readonly calls: Record<string, number>
}

export async function startS3(t: Pick<ExecutionContext, 'teardown'>): Promise<TestS3> {
  const server = await startFauxqs({ port: 0, logger: false })
  server.createBucket('kontor')
  const trouble: Trouble = { failures: 0, cuts: 0, delayMs: 0 }
  const calls: Record<string, number> = {}
  let count = 0
  const happens = inShares()
  const proxy = createServer((incoming, outgoing) => {
    calls[incoming.method ?? ''] = (calls[incoming.method ?? ''] ?? 0) + 1
    count += 1
    const [path = ''] = incoming.url?.split('?') ?? []
    if (happens(`fail ${path}`, trouble.failures)) return fail(count, incoming, outgoing)
    setTimeout(() => pass(server.port, happens(`cut ${path}`, trouble.cuts), incoming, outgoing), trouble.delayMs)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  t.teardown(async () => {
    await stop(proxy)
    await server.stop()
  })
  return {
    environment: {
      S3_ENDPOINT: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
      S3_BUCKET: 'kontor',
      S3_ACCESS_KEY_ID: 'test',
      S3_SECRET_ACCESS_KEY: 'test',
    },
    trouble,
    calls,
    keys: async () => {
      const found = await (await fetch(`http://127.0.0.1:${server.port}/kontor?list-type=2&max-keys=100000`)).text()
      return [...found.matchAll(/<Key>(blobs\/[^<]+)<\/Key>/g)].map(([, key = '']) => key)
    },
  }
}

/**
 * Returns whether a call is among this share of all with its key. The first is chosen at random, and the others follow evenly: by chance
 * alone, as many calls in a row as Kontor tries would sometimes fail.
 */
function inShares(): (key: string, share: number) => boolean {
  const due = new Map<string, number>()
  return (key, share) => {
    const next = (due.get(key) ?? Math.random()) + share
    due.set(key, next % 1)
    return next >= 1
  }
}

/** Reads the call to its end first, as an overloaded server may. */
function fail(count: number, incoming: IncomingMessage, outgoing: ServerResponse): void {
  if (count % 3 === 0) return void incoming.socket.destroy()
  incoming
    .resume()
    .on('end', () =>
      outgoing.writeHead(count % 3 === 1 ? 500 : 503).end(`<Error><Code>${count % 3 === 1 ? 'InternalError' : 'SlowDown'}</Code></Error>`),
    )
}

function pass(port: number, isCut: boolean, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { method, url: path, headers } = incoming
  const onward = request({ port, host: '127.0.0.1', method, path, headers }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
    if (!isCut || method !== 'GET') return void answer.pipe(outgoing)
    answer.once('data', (piece: Buffer) => outgoing.write(piece.subarray(0, piece.length / 2), () => outgoing.destroy()))
  })
  onward.on('error', () => outgoing.destroy())
  incoming.pipe(onward)
}

function stop(server: Server): Promise<void> {
  server.closeAllConnections()
  return new Promise((resolve) => server.close(() => resolve()))
}
