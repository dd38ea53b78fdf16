import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Teardown } from '#test/faults/case.ts'

/** A piece of network between two processes, which can be made worse. */
export interface Network {
  /** The address of what stands behind it, through it. */
  readonly url: string
  /** How many connections go through it now. */
  readonly links: number
  /** Nothing comes through any more, and nobody hears of that: connections stay, and new ones are made and never answered. */
  readonly stall: () => void
  /** What stalled is lost for ever, as behind a firewall that forgot its connections; new ones come through. */
  readonly forget: () => void
  /** Whatever is sent from now on arrives so much later. */
  readonly delay: (ms: number) => void
  /** All connections break off, and new ones are refused. */
  readonly cut: () => void
  /** All is well again: connections that stalled go on. */
  readonly mend: () => void
}

interface Link {
  readonly near: Socket
  readonly far: Socket
}

/** Starts one in front of a database. */
export async function startNetwork(t: Pick<Teardown, 'teardown'>, databaseUrl: string): Promise<Network> {
  const target = new URL(databaseUrl)
  const links = new Set<Link>()
  let lateMs = 0
  let isStalled = false
  let isCut = false

  const server = createServer({ pauseOnConnect: true }, (near) => {
    if (isCut) return void near.resetAndDestroy()
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
      if (lateMs === 0) to.write(bytes)
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
    cut: () => {
      isCut = true
      for (const link of links) breakOff(link)
    },
    mend: () => {
      isStalled = false
      isCut = false
      lateMs = 0
      for (const link of links) flow(link)
    },
  }
}

function flow({ near, far }: Link): void {
  near.resume()
  far.resume()
}

function breakOff({ near, far }: Link): void {
  near.resetAndDestroy()
  far.destroy()
}
