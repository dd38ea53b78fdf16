import { createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

const defaultPort = 3000
const portsTried = 100
/** How long a killed run may take to release its port. */
const releaseWaitMs = 1_000

/** A free port of 127.0.0.1. */
export async function freePort(): Promise<number> {
  const port = await probe(0, '127.0.0.1')
  if (port === null) throw new Error('This machine has no free port.')
  return port
}

/** The port for the API: the requested one, else 3000 or the next free one, which `say` reports. Throws if the requested port is taken. */
export async function choosePort(wanted: string | undefined, say: (line: string) => void): Promise<number> {
  if (wanted === '0') return freePort()
  if (wanted) {
    const port = Number(wanted)
    if (await becomesFree(port)) return port
    throw new Error(`Port ${port} is taken. Stop what uses it, or set PORT to another.`)
  }
  if (await becomesFree(defaultPort)) return defaultPort
  for (let port = defaultPort + 1; port < defaultPort + portsTried; port += 1) {
    if ((await probe(port)) === null) continue
    say(`Port ${defaultPort} is taken, using ${port}.`)
    return port
  }
  throw new Error(`Ports ${defaultPort} to ${defaultPort + portsTried - 1} are taken. Set PORT to a free one.`)
}

async function becomesFree(port: number): Promise<boolean> {
  for (const end = Date.now() + releaseWaitMs; ; await delay(50)) {
    if ((await probe(port)) !== null) return true
    if (Date.now() >= end) return false
  }
}

/** The port, if a server can listen on it now, on this address or on all; else null. */
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
