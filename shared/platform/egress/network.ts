import { lookup, Resolver } from 'node:dns/promises'
import { isIP, type LookupFunction, connect as netConnect, type Socket } from 'node:net'
import { connect as tlsConnect } from 'node:tls'

/**
 * A connection to make, only to one of the checked addresses. The host is the name that TLS sends to the server and expects in its
 * certificate.
 */
export interface DialTarget {
  readonly host: string
  readonly port: number
  readonly addresses: readonly string[]
  readonly tls: boolean
}

/** The network that dialers use. Tests replace it with one that only records what would be dialled. */
export interface Network {
  /** Resolves all addresses of a name in the public DNS. */
  readonly resolve: (name: string, signal: AbortSignal) => Promise<readonly string[]>
  /** Resolves all addresses of a name as this machine does, including /etc/hosts. */
  readonly resolveLocally: (name: string) => Promise<readonly string[]>
  /** Starts connecting; the socket emits `connect` or `secureConnect` when connected. */
  readonly connect: (target: DialTarget) => Socket
}

/** Timeout per DNS server in milliseconds, and number of tries. */
const resolverOptions = { timeout: 3_000, tries: 2 }

/**
 * The real network. Names are resolved with c-ares: getaddrinfo would occupy one of the process's four threads until a slow server answers,
 * and also resolves names that only this machine knows.
 */
export const internet: Network = {
  async resolve(name, signal) {
    const resolver = new Resolver(resolverOptions)
    const cancel = () => resolver.cancel()
    signal.addEventListener('abort', cancel, { once: true })
    try {
      const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
      return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    } finally {
      signal.removeEventListener('abort', cancel)
    }
  },
  resolveLocally: async (name) => (await lookup(name, { all: true })).map(({ address }) => address),
  connect({ host, port, addresses, tls }) {
    const options = { host, port, lookup: lookupChecked(addresses), autoSelectFamily: true }
    if (!tls) return netConnect(options)
    const servername = isIP(host) ? '' : host.replace(/\.$/, '')
    return tlsConnect({ ...options, servername, ALPNProtocols: ['http/1.1'] })
  },
}

/** A lookup that returns the checked addresses, so nothing is resolved again between check and connection. */
const lookupChecked =
  (addresses: readonly string[]): LookupFunction =>
  (_name, options, callback) => {
    const answers = addresses.map((address) => ({ address, family: isIP(address) }))
    if (options.all) callback(null, answers)
    else callback(null, answers[0]?.address ?? '', answers[0]?.family)
  }
