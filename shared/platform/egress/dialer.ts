import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'
import { type Endpoint, endpointKey } from '#shared/platform/egress/endpoint.ts'
import { EgressFailure } from '#shared/platform/egress/failure.ts'
import { internet, type Network } from '#shared/platform/egress/network.ts'
import type { Config } from '#shared/platform/kernel/config.ts'

/** Decides which addresses of an endpoint may be dialled, and holds the network that dials them. */
export interface Dialer {
  readonly network: Network
  /** Resolves the addresses to dial. Throws `refused` for a forbidden endpoint and `unreachable` for one without addresses. */
  readonly resolveAddresses: (endpoint: Endpoint, signal: AbortSignal) => Promise<readonly string[]>
}

/** Maximum number of addresses that are dialled; all addresses of a name are checked. */
const maxAddresses = 8

/**
 * The dialer for endpoints that a workspace names: public addresses, and endpoints that the operator allows with EGRESS_ALLOW
 * (docs/contract/conventions.md#calls-outward). A name is refused when any of its addresses is not public.
 */
export function restrictedDialer({ egressAllow }: Pick<Config, 'egressAllow'>, wire: Network = internet): Dialer {
  const allowedEndpoints = new Set(egressAllow)
  return {
    network: wire,
    async resolveAddresses(endpoint, signal) {
      if (allowedEndpoints.has(endpointKey(endpoint))) return resolveLocally(wire, endpoint)
      const addresses = isIP(endpoint.host) ? [endpoint.host] : await wire.resolve(endpoint.host, signal)
      if (addresses.length === 0) {
        throw new EgressFailure(
          'unreachable',
          `${endpoint.host} does not resolve to a public address; the operator may open it with EGRESS_ALLOW=${endpointKey(endpoint)}`,
        )
      }
      if (!addresses.every(isPublicAddress)) {
        throw new EgressFailure('refused', `${endpointKey(endpoint)} is no public address; the operator may open it with EGRESS_ALLOW`)
      }
      return limitAddresses(endpoint, addresses)
    },
  }
}

/**
 * The dialer for endpoints that the operator configures, such as SMTP_URL or STRIPE_API_URL: unrestricted
 * (docs/contract/conventions.md#addresses-of-the-operator).
 */
export const operatorDialer = (wire: Network = internet): Dialer => ({
  network: wire,
  resolveAddresses: (endpoint) => resolveLocally(wire, endpoint),
})

/** Special blocks that ipaddr.js classifies as unicast: Azure's wire server, and IPv4-compatible IPv6, which a URL may contain. */
const extraBlocks = ['168.63.129.16/32', '::/96'].map((block) => ipaddr.parseCIDR(block))

/**
 * Whether an IP address belongs to the public internet: not in a private, loopback, link-local, translation, documentation or other
 * special block, and not an address of this machine. Text that is no address is not public.
 */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false
  // Converts an IPv4-mapped address to the IPv4 address that it reaches.
  const address = ipaddr.process(text)
  return address.range() === 'unicast' && !isInExtraBlock(address) && !isOwnAddress(address)
}

const isInExtraBlock = (address: ipaddr.IPv4 | ipaddr.IPv6): boolean =>
  extraBlocks.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits))

/** Reads the interfaces on every call, since they change. A service bound to all addresses also answers at this machine's public ones. */
const isOwnAddress = (address: ipaddr.IPv4 | ipaddr.IPv6): boolean =>
  Object.values(networkInterfaces()).some((list) =>
    list?.some((own) => ipaddr.process(own.address.replace(/%.*/, '')).toNormalizedString() === address.toNormalizedString()),
  )

async function resolveLocally(wire: Network, endpoint: Endpoint): Promise<readonly string[]> {
  if (isIP(endpoint.host)) return [endpoint.host]
  return limitAddresses(endpoint, await wire.resolveLocally(endpoint.host).catch(() => []))
}

function limitAddresses({ host }: Endpoint, addresses: readonly string[]): readonly string[] {
  if (addresses.length === 0) throw new EgressFailure('unreachable', `${host} does not resolve`)
  return addresses.slice(0, maxAddresses)
}
