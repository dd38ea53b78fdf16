import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { settleAccounts } from '#test/faults/accounts.ts'
import type { FaultCase } from '#test/faults/case.ts'
import { startLoad } from '#test/faults/load/load.ts'
import { seconds } from '#test/faults/measure.ts'
import { openSite } from '#test/faults/site.ts'
import { resetSocket } from '#test/support/reset-socket.ts'

/** A slow client. */
interface Slow {
  readonly clients: number
  /** The text that it sends at once, and the text that it then sends byte by byte while it may. */
  readonly begins: (path: string, token: string) => string
  readonly dribbles: string
  /** Whether the server ends it for being slow. */
  readonly isEnded: boolean
}

const head = (line: string, ...more: readonly string[]): string => `${[line, 'Host: localhost', ...more].join('\r\n')}\r\n`
const bearer = (token: string): string => `Authorization: Bearer ${token}`
const half = 'half a record'

const kinds: readonly Slow[] = [
  { clients: 200, begins: () => '', dribbles: '', isEnded: true },
  { clients: 150, begins: (path) => head(`GET ${path} HTTP/1.1`), dribbles: 'x-slow: 1\r\n', isEnded: true },
  {
    clients: 100,
    begins: (path, token) =>
      `${head(`POST ${path} HTTP/1.1`, bearer(token), 'Content-Type: application/json', 'Content-Length: 5000')}\r\n{"values":{"name":"${half}`,
    dribbles: '!',
    isEnded: false,
  },
  // Requests much and reads nothing of it.
  {
    clients: 50,
    begins: (path, token) => `${head(`GET ${path}?limit=200 HTTP/1.1`, bearer(token))}\r\n`.repeat(4),
    dribbles: '',
    isEnded: false,
  },
]

/** Interval between two bytes of a slow client. */
const dribbleMs = 500
/** Headers must arrive within ten seconds; the server checks every five. */
const endedWithinMs = 20_000

/** Five hundred slow connections of every kind: other callers are not affected, and connections that never become requests are ended. */
export const slowClients: FaultCase = {
  name: '500 slow and half-open clients',
  limitSeconds: 120,
  run: async (t) => {
    const site = await openSite(t)
    const load = await startLoad(site.org, site.apis)
    await delay(2_000)
    const path = `${site.org.path}/records/locations`
    const sockets = kinds.flatMap((kind) =>
      Array.from({ length: kind.clients }, (_, place) => open(site.apis[place % site.apis.length]?.root ?? '', kind)),
    )
    const began = performance.now()
    const dribbling = setInterval(() => {
      for (const { socket, kind, sent } of sockets)
        if (kind.dribbles && !socket.destroyed) socket.write(kind.dribbles[sent.count++ % kind.dribbles.length] ?? '')
    }, dribbleMs)
    t.teardown(() => {
      clearInterval(dribbling)
      for (const { socket } of sockets) socket.destroy()
    })
    for (const { socket, kind } of sockets) socket.write(kind.begins(path, site.org.owner.token ?? ''))
    const mustEnd = sockets.filter(({ kind }) => kind.isEnded)
    const isOpen = ({ ended }: { readonly ended: { at: number } }) => ended.at === 0
    while (mustEnd.some(isOpen) && performance.now() - began < endedWithinMs) await delay(100)
    const left = mustEnd.filter(isOpen).length
    clearInterval(dribbling)
    for (const { socket } of sockets) resetSocket(socket)
    const note = `the last that sent no request was ended after ${seconds(Math.max(...mustEnd.map(({ ended }) => ended.at)) - began)}`
    const figures = await settleAccounts(site, load, sockets.length, note)
    const { data } = await site.org.owner.get(`${path}?q=${encodeURIComponent(half)}`)
    const wrong = [
      ...(left > 0 ? [`${left} connections that sent no request were still open after ${endedWithinMs / 1000} s`] : []),
      ...(figures.failed > 0 ? [`${figures.failed} requests of others failed`] : []),
      ...(data.total > 0 ? [`${data.total} records were made of requests that never ended`] : []),
    ]
    return { ...figures, wrong: [...figures.wrong, ...wrong] }
  },
}

function open(
  root: string,
  kind: Slow,
): { readonly socket: Socket; readonly kind: Slow; readonly sent: { count: number }; readonly ended: { at: number } } {
  const { hostname, port } = new URL(root)
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
  const ended = { at: 0 }
  socket.on('error', () => undefined)
  // A socket that does not read does not notice its end either.
  if (kind.isEnded) socket.resume()
  for (const event of ['end', 'close']) socket.once(event, () => (ended.at ||= performance.now()))
  return { socket, kind, sent: { count: 0 }, ended }
}
