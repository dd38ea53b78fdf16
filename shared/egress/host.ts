import { EgressFailure } from '#shared/egress/failure.ts'

/** A host and a port. The host is in the canonical form of the URL standard; an IPv6 address has no brackets. */
export interface Endpoint {
  readonly host: string
  readonly port: number
}

/** Returns a host in canonical form: `0x7f.1`, `127。0。0。1` and `127.0.0.1.` are all 127.0.0.1. Throws `refused` for other text. */
export function canonicalHost(text: string): string {
  const bracketed = text.includes(':') && !text.startsWith('[') ? `[${text}]` : text
  const address = `http://${bracketed}/`
  if (/[\s/?#@\\]/.test(bracketed) || !URL.canParse(address)) throw new EgressFailure('refused', `${text} is no host`)
  const url = new URL(address)
  if (url.port !== '' || url.hostname === '') throw new EgressFailure('refused', `${text} is no host`)
  return withoutBrackets(url.hostname)
}

/** Parses the endpoint of a URL. Throws `refused` for a URL that is not http or https, or that holds a user name or password. */
export function endpointOf(address: string): Endpoint & { readonly url: URL; readonly tls: boolean } {
  if (!URL.canParse(address)) throw new EgressFailure('refused', 'The address cannot be read')
  const url = new URL(address)
  const tls = url.protocol === 'https:'
  if (!tls && url.protocol !== 'http:')
    throw new EgressFailure('refused', `The address must start with http:// or https://, got ${url.protocol}`)
  if (url.username || url.password) throw new EgressFailure('refused', 'The address must not hold a user name or password; send a header')
  return { url, tls, host: withoutBrackets(url.hostname), port: url.port === '' ? (tls ? 443 : 80) : Number(url.port) }
}

const withoutBrackets = (hostname: string): string => (hostname.startsWith('[') ? hostname.slice(1, -1) : hostname)

/** `host:port` in canonical form, as EGRESS_ALLOW lists it. */
export const endpointKey = ({ host, port }: Endpoint): string => `${host.includes(':') ? `[${host}]` : host}:${port}`
