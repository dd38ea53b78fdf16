import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Teardown } from '#test/faults/case.ts'
import { resetSocket } from '#test/support/reset-socket.ts'

/** A network between two processes that can be made worse. */
export interface Network {
  /** The address of the server behind it, through it. */
  readonly url: string
  /** The number of open connections. */
  readonly links: number
  /** No bytes pass, without notice: connections stay open, and new ones are accepted and never answered. */
  readonly stall: () => void
  /** Stalled bytes are lost, as behind a firewall that forgot its connections; new connections work. */
  readonly forget: () => void
  /** Delays all bytes from now on. */
  readonly delay: (ms: number) => void
  /** From now on bytes pass in pieces of this size, one every `everyMs` milliseconds. */
  readonly trickle: (pieceBytes: number, everyMs: number) => void
  /** Breaks all connections and refuses new ones. */
  readonly cut: () => void
  /** Restores the network: stalled connections continue. */
  readonly mend: () => void
}

interface Link {
  readonly near: Socket
  readonly far: Socket
}

/** Starts a network in front of a database. */
export async function startNetwork(t: Pick<Teardown, 'teardown'>, databaseUrl: string): Promise<Network> {
  const target = new URL(databaseUrl)
  const links = new Set<Link>()
  let lateMs = 0
  let pieces: { readonly bytes: number; readonly everyMs: number } | undefined
  let isStalled = false
  let isCut = false

  const server = createServer({ pauseOnConnect: true }, (near) => {
    if (isCut) return resetSocket(near)
    const link = { near, far: connect(Number(target.port), target.hostname) }
    links.add(link)
    carry(near, link.far)
    carry(link.far, near)
    if (!isStalled) flow(link)
    near.once('close', () => links.delete(link))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    for (const link of links) breakOff(link)
  })

  function carry(from: Socket, to: Socket): void {
    from.pause()
    from.on('data', (bytes) => {
      if (pieces) writeInPieces(to, bytes, pieces)
      else if (lateMs === 0) to.write(bytes)
      else setTimeout(() => to.write(bytes), lateMs)
    })
    from.on('error', () => undefined)
    from.on('close', () => to.destroy())
  }

  const through = new URL(target)
  through.port = String((server.address() as AddressInfo).port)
  return {
    url: through.href,
    get links() {
      return links.size
    },
    stall: () => {
      isStalled = true
      for (const { near, far } of links) for (const socket of [near, far]) socket.pause()
    },
    forget: () => {
      isStalled = false
      links.clear()
    },
    delay: (ms) => {
      lateMs = ms
    },
    trickle: (bytes, everyMs) => {
      pieces = { bytes, everyMs }
    },
    cut: () => {
      isCut = true
      for (const link of links) breakOff(link)
    },
    mend: () => {
      isStalled = false
      isCut = false
      lateMs = 0
      pieces = undefined
      for (const link of links) flow(link)
    },
  }
}

/** When the last piece to a socket is due, by socket. */
const lastPieces = new WeakMap<Socket, number>()

function writeInPieces(to: Socket, bytes: Buffer, { bytes: size, everyMs }: { readonly bytes: number; readonly everyMs: number }): void {
  for (let start = 0; start < bytes.length; start += size) {
    const at = Math.max(performance.now(), (lastPieces.get(to) ?? 0) + everyMs)
    lastPieces.set(to, at)
    setTimeout(() => to.write(bytes.subarray(start, start + size)), Math.max(0, at - performance.now()))
  }
}

function flow({ near, far }: Link): void {
  near.resume()
  far.resume()
}

function breakOff({ near, far }: Link): void {
  resetSocket(near)
  far.destroy()
}
