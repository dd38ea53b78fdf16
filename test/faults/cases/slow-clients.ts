import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { settleAccounts } from '#test/faults/accounts.ts'
import type { FaultCase } from '#test/faults/case.ts'
import { startLoad } from '#test/faults/load/load.ts'
import { seconds } from '#test/faults/measure.ts'
import { openSite } from '#test/faults/site.ts'
import { resetSocket } from '#test/support/reset-socket.ts'

/** A kind of slow client. */
interface SlowKind {
  /** Number of clients of this kind. */
  readonly clients: number
  /** Returns the text that a client sends at once. */
  readonly start: (path: string, token: string) => string
  /** The text that it repeats afterwards, one byte every `byteIntervalMs`; empty for a client that sends nothing more. */
  readonly trickle: string
  /** Whether the server must close the connection because no request arrives on it. */
  readonly mustBeClosed: boolean
}

const head = (line: string, ...more: readonly string[]): string => `${[line, 'Host: localhost', ...more].join('\r\n')}\r\n`
const bearer = (token: string): string => `Authorization: Bearer ${token}`
const partialName = 'half a record'

const kinds: readonly SlowKind[] = [
  // Sends nothing.
  { clients: 200, start: () => '', trickle: '', mustBeClosed: true },
  // Never ends its headers.
  { clients: 150, start: (path) => head(`GET ${path} HTTP/1.1`), trickle: 'x-slow: 1\r\n', mustBeClosed: true },
  // Never ends its body.
  {
    clients: 100,
    start: (path, token) =>
      `${head(`POST ${path} HTTP/1.1`, bearer(token), 'Content-Type: application/json', 'Content-Length: 5000')}\r\n{"values":{"name":"${partialName}`,
    trickle: '!',
    mustBeClosed: false,
  },
  // Requests four large pages and reads none of them.
  {
    clients: 50,
    start: (path, token) => `${head(`GET ${path}?limit=200 HTTP/1.1`, bearer(token))}\r\n`.repeat(4),
    trickle: '',
    mustBeClosed: false,
  },
]

/** Interval between two bytes of `trickle`. */
const byteIntervalMs = 500
/** Headers must arrive within 10 s, and the server checks every 5 s (api/server.ts): 15 s at most, and 5 s for a busy machine. */
const closedWithinMs = 20_000

/** 500 slow connections of four kinds: other callers are not affected, and connections on which no request arrives are closed. */
export const slowClients: FaultCase = {
  name: '500 slow and half-open clients',
  limitSeconds: 120,
  run: async (t) => {
    const site = await openSite(t)
    const load = await startLoad(site.org, site.apis)
    await delay(2_000)
    const path = `${site.org.path}/records/locations`
    const sockets = kinds.flatMap((kind) =>
      Array.from({ length: kind.clients }, (_, index) => open(site.apis[index % site.apis.length]?.root ?? '', kind)),
    )
    const began = performance.now()
    const trickling = setInterval(() => {
      for (const { socket, kind, sent } of sockets)
        if (kind.trickle && !socket.destroyed) socket.write(kind.trickle[sent.bytes++ % kind.trickle.length] ?? '')
    }, byteIntervalMs)
    t.teardown(() => {
      clearInterval(trickling)
      for (const { socket } of sockets) socket.destroy()
    })
    for (const { socket, kind } of sockets) socket.write(kind.start(path, site.org.owner.token ?? ''))
    const idle = sockets.filter(({ kind }) => kind.mustBeClosed)
    const isOpen = ({ closed }: { readonly closed: { at: number } }) => closed.at === 0
    while (idle.some(isOpen) && performance.now() - began < closedWithinMs) await delay(100)
    const left = idle.filter(isOpen).length
    clearInterval(trickling)
    for (const { socket } of sockets) resetSocket(socket)
    const note = `the last connection without a request was closed after ${seconds(Math.max(...idle.map(({ closed }) => closed.at)) - began)}`
    const figures = await settleAccounts(site, load, sockets.length, note)
    const { data } = await site.org.owner.get(`${path}?q=${encodeURIComponent(partialName)}`)
    const wrong = [
      ...(left > 0 ? [`${left} connections without a request were still open after ${closedWithinMs / 1000} s`] : []),
      ...(figures.failed > 0 ? [`${figures.failed} requests of others failed`] : []),
      ...(data.total > 0 ? [`${data.total} records were created by requests that never ended`] : []),
    ]
    return { ...figures, wrong: [...figures.wrong, ...wrong] }
  },
}

function open(
  root: string,
  kind: SlowKind,
): { readonly socket: Socket; readonly kind: SlowKind; readonly sent: { bytes: number }; readonly closed: { at: number } } {
  const { hostname, port } = new URL(root)
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
  /** When the server closed the connection, by `performance.now()`; 0 while it is open. */
  const closed = { at: 0 }
  socket.on('error', () => undefined)
  // A socket that does not read emits no `end` either.
  if (kind.mustBeClosed) socket.resume()
  for (const event of ['end', 'close']) socket.once(event, () => (closed.at ||= performance.now()))
  return { socket, kind, sent: { bytes: 0 }, closed }
}
