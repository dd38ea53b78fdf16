import { isIP } from 'node:net'
import { isPublicAddress } from '#shared/egress/addresses.ts'
import { EgressFailure } from '#shared/egress/failure.ts'
import { type Endpoint, endpointKey } from '#shared/egress/host.ts'
import { internet, type Wire } from '#shared/egress/wire.ts'
import type { Config } from '#shared/kernel/config.ts'

/** A way out of this installation: which addresses an endpoint may be dialled at, and what dials them. */
export interface Door {
  readonly wire: Wire
  /** The addresses to dial, resolved this once; throws `refused` for an endpoint that may not be dialled, `unreachable` for no address. */
  readonly addressesOf: (endpoint: Endpoint, signal: AbortSignal) => Promise<readonly string[]>
}

/** A name may have any number of addresses; all are judged, and so many are tried. */
const mostTried = 8

/**
 * The door for whatever a workspace names: public addresses of the internet, and what the operator opens with EGRESS_ALLOW (decisions,
 * Calls outward). A name with one address that is not public is refused as a whole.
 */
export function guardedDoor({ egressAllow }: Pick<Config, 'egressAllow'>, wire: Wire = internet): Door {
  const opened = new Set(egressAllow)
  return {
    wire,
    async addressesOf(endpoint, signal) {
      if (opened.has(endpointKey(endpoint))) return here(wire, endpoint)
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
      return some(endpoint, addresses)
    },
  }
}

/** The door for what the operator names, such as SMTP_URL or STRIPE_API_URL: dialled as it is (decisions, Addresses of the operator). */
export const operatorDoor = (wire: Wire = internet): Door => ({ wire, addressesOf: (endpoint) => here(wire, endpoint) })

async function here(wire: Wire, endpoint: Endpoint): Promise<readonly string[]> {
  if (isIP(endpoint.host)) return [endpoint.host]
  return some(endpoint, await wire.resolveHere(endpoint.host).catch(() => []))
}

function some({ host }: Endpoint, addresses: readonly string[]): readonly string[] {
  if (addresses.length === 0) throw new EgressFailure('unreachable', `${host} does not resolve`)
  return addresses.slice(0, mostTried)
}
