import { isIP } from 'node:net'
import { type Endpoint, endpointKey } from '#shared/platform/egress/endpoint.ts'
import { EgressFailure } from '#shared/platform/egress/failure.ts'
import { internet, type Network } from '#shared/platform/egress/network.ts'
import { isPublicAddress } from '#shared/platform/egress/public-address.ts'
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
 * The dialer for endpoints that a workspace names: public addresses, and endpoints that the operator allows with EGRESS_ALLOW (decisions,
 * Calls outward). A name is refused when any of its addresses is not public.
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
 * The dialer for endpoints that the operator configures, such as SMTP_URL or STRIPE_API_URL: unrestricted (decisions, Addresses of the
 * operator).
 */
export const operatorDialer = (wire: Network = internet): Dialer => ({
  network: wire,
  resolveAddresses: (endpoint) => resolveLocally(wire, endpoint),
})

async function resolveLocally(wire: Network, endpoint: Endpoint): Promise<readonly string[]> {
  if (isIP(endpoint.host)) return [endpoint.host]
  return limitAddresses(endpoint, await wire.resolveLocally(endpoint.host).catch(() => []))
}

function limitAddresses({ host }: Endpoint, addresses: readonly string[]): readonly string[] {
  if (addresses.length === 0) throw new EgressFailure('unreachable', `${host} does not resolve`)
  return addresses.slice(0, maxAddresses)
}
