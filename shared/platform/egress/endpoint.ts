import { EgressFailure } from '#shared/platform/egress/failure.ts'

/** A host and port. The host is in the URL standard's canonical spelling, an IPv6 address without brackets. */
export interface Endpoint {
  readonly host: string
  readonly port: number
}

/** Canonical spelling of a host: `0x7f.1`, `127。0。0。1` and `127.0.0.1.` are all 127.0.0.1. Throws `refused` when the text is no host. */
export function canonicalHost(text: string): string {
  const bracketed = text.includes(':') && !text.startsWith('[') ? `[${text}]` : text
  const address = `http://${bracketed}/`
  if (/[\s/?#@\\]/.test(bracketed) || !URL.canParse(address)) throw new EgressFailure('refused', `${text} is no host`)
  const url = new URL(address)
  if (url.port !== '' || url.hostname === '') throw new EgressFailure('refused', `${text} is no host`)
  return withoutBrackets(url.hostname)
}

/** Parses an http or https address. Throws `refused` for any other, and for one with a user name or password. */
export function parseEndpoint(address: string): Endpoint & { readonly url: URL; readonly tls: boolean } {
  if (!URL.canParse(address)) throw new EgressFailure('refused', 'The address cannot be read')
  const url = new URL(address)
  const tls = url.protocol === 'https:'
  if (!tls && url.protocol !== 'http:')
    throw new EgressFailure('refused', `The address must start with http:// or https://, got ${url.protocol}`)
  if (url.username || url.password) throw new EgressFailure('refused', 'The address must not hold a user name or password; send a header')
  return { url, tls, host: withoutBrackets(url.hostname), port: url.port === '' ? (tls ? 443 : 80) : Number(url.port) }
}

const withoutBrackets = (hostname: string): string => (hostname.startsWith('[') ? hostname.slice(1, -1) : hostname)

/** Canonical `host:port`, the form in which dialers look up EGRESS_ALLOW. */
export const endpointKey = ({ host, port }: Endpoint): string => `${host.includes(':') ? `[${host}]` : host}:${port}`
