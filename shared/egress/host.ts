import { EgressFailure } from '#shared/egress/failure.ts'

/** A host and a port as they were named; the host in the one spelling that the URL standard gives it, an IPv6 address without brackets. */
export interface Endpoint {
  readonly host: string
  readonly port: number
}

/** The host in its one spelling: `0x7f.1`, `127。0。0。1` and `127.0.0.1.` are all 127.0.0.1. Throws when the text is no host. */
export function canonicalHost(text: string): string {
  const spelled = text.includes(':') && !text.startsWith('[') ? `[${text}]` : text
  const address = `http://${spelled}/`
  if (/[\s/?#@\\]/.test(spelled) || !URL.canParse(address)) throw new EgressFailure('refused', `${text} is no host`)
  const url = new URL(address)
  if (url.port !== '' || url.hostname === '') throw new EgressFailure('refused', `${text} is no host`)
  return bare(url.hostname)
}

/** The endpoint of an address; throws `refused` for what is no http or https address, or holds a name and password. */
export function endpointOf(address: string): Endpoint & { readonly url: URL; readonly tls: boolean } {
  if (!URL.canParse(address)) throw new EgressFailure('refused', 'The address cannot be read')
  const url = new URL(address)
  const tls = url.protocol === 'https:'
  if (!tls && url.protocol !== 'http:')
    throw new EgressFailure('refused', `The address must start with http:// or https://, got ${url.protocol}`)
  if (url.username || url.password) throw new EgressFailure('refused', 'The address must not hold a user name or password; send a header')
  return { url, tls, host: bare(url.hostname), port: url.port === '' ? (tls ? 443 : 80) : Number(url.port) }
}

const bare = (hostname: string): string => (hostname.startsWith('[') ? hostname.slice(1, -1) : hostname)

/** `host:port` in its one spelling, as EGRESS_ALLOW lists it and doors look it up. */
export const endpointKey = ({ host, port }: Endpoint): string => `${host.includes(':') ? `[${host}]` : host}:${port}`
