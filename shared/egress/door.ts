import { isIP } from 'node:net'
import { isPublicAddress } from '#shared/egress/addresses.ts'
import { EgressFailure } from '#shared/egress/failure.ts'
import { type Endpoint, endpointKey } from '#shared/egress/host.ts'
import { internet, type Wire } from '#shared/egress/wire.ts'
import type { Config } from '#shared/kernel/config.ts'

/** Connects to outside endpoints: decides which addresses may be dialled, and dials them. */
export interface Door {
  readonly wire: Wire
  /** Resolves the addresses to dial. Throws `refused` for an endpoint that may not be dialled and `unreachable` if it has no address. */
  readonly addressesOf: (endpoint: Endpoint, signal: AbortSignal) => Promise<readonly string[]>
}

/** Maximum number of addresses tried per name. All its addresses are checked. */
const maxTriedAddresses = 8

/**
 * The dialer for endpoints that a workspace names: public internet addresses, and endpoints that the operator lists in EGRESS_ALLOW
 * (decisions, Calls outward). A name is refused if any of its addresses is not public.
 */
export function guardedDoor({ egressAllow }: Pick<Config, 'egressAllow'>, wire: Wire = internet): Door {
  const allowedEndpoints = new Set(egressAllow)
  return {
    wire,
    async addressesOf(endpoint, signal) {
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
      return requireAddresses(endpoint, addresses)
    },
  }
}

/** The dialer for endpoints that the operator names, such as SMTP_URL; it dials any address (decisions, Addresses of the operator). */
export const operatorDoor = (wire: Wire = internet): Door => ({ wire, addressesOf: (endpoint) => resolveLocally(wire, endpoint) })

async function resolveLocally(wire: Wire, endpoint: Endpoint): Promise<readonly string[]> {
  if (isIP(endpoint.host)) return [endpoint.host]
  return requireAddresses(endpoint, await wire.resolveHere(endpoint.host).catch(() => []))
}

function requireAddresses({ host }: Endpoint, addresses: readonly string[]): readonly string[] {
  if (addresses.length === 0) throw new EgressFailure('unreachable', `${host} does not resolve`)
  return addresses.slice(0, maxTriedAddresses)
}
