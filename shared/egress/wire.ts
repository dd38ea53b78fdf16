import { lookup, Resolver } from 'node:dns/promises'
import { isIP, type LookupFunction, connect as netConnect, type Socket } from 'node:net'
import { connect as tlsConnect } from 'node:tls'

/** Where a connection goes: only to one of the addresses, under the name that certificates and servers know. */
export interface Target {
  readonly host: string
  readonly port: number
  readonly addresses: readonly string[]
  readonly tls: boolean
}

/** The outside as doors reach it. Tests put one in its place that only writes down what would be dialled. */
export interface Wire {
  /** Every address of a name in the public DNS. */
  readonly resolve: (name: string, signal: AbortSignal) => Promise<readonly string[]>
  /** Every address of a name as this machine knows it, /etc/hosts included. */
  readonly resolveHere: (name: string) => Promise<readonly string[]>
  /** Begins to connect; the socket says `connect` or `secureConnect` when it is done. */
  readonly connect: (target: Target) => Socket
}

/** How long one DNS server may take, in milliseconds, and how often it is asked. */
const patience = { timeout: 3_000, tries: 2 }

/**
 * The real outside. Names go to the DNS by c-ares, since getaddrinfo would occupy one of four threads of the process until a slow server
 * answers, and knows names that only this machine has.
 */
export const internet: Wire = {
  async resolve(name, signal) {
    const resolver = new Resolver(patience)
    const cancel = () => resolver.cancel()
    signal.addEventListener('abort', cancel, { once: true })
    try {
      const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
      return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    } finally {
      signal.removeEventListener('abort', cancel)
    }
  },
  resolveHere: async (name) => (await lookup(name, { all: true })).map(({ address }) => address),
  connect({ host, port, addresses, tls }) {
    const options = { host, port, lookup: pinned(addresses), autoSelectFamily: true }
    if (!tls) return netConnect(options)
    const servername = isIP(host) ? '' : host.replace(/\.$/, '')
    return tlsConnect({ ...options, servername, ALPNProtocols: ['http/1.1'] })
  },
}

/** Answers with the addresses that were checked; nothing is asked again between the check and the connection. */
const pinned =
  (addresses: readonly string[]): LookupFunction =>
  (_name, options, callback) => {
    const answers = addresses.map((address) => ({ address, family: isIP(address) }))
    if (options.all) callback(null, answers)
    else callback(null, answers[0]?.address ?? '', answers[0]?.family)
  }
