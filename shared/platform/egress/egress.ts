import { type Dialer, operatorDialer, restrictedDialer } from '#shared/platform/egress/dialer.ts'
import { EgressFailure } from '#shared/platform/egress/failure.ts'
import { internet, type Network } from '#shared/platform/egress/network.ts'
import type { Config } from '#shared/platform/kernel/config.ts'

/**
 * All ways out of a process, to mail servers, payment providers and other addresses. While the database is a restored copy that is not live,
 * every dial fails as `held` (docs/decisions/restored-copies.md).
 */
export interface Egress {
  /** Dials endpoints that a workspace names. */
  readonly restricted: Dialer
  /** Dials endpoints that the operator configures. */
  readonly operators: Dialer
  /** Whether nothing may leave. For work that can wait, such as mail. */
  readonly isHeld: () => Promise<boolean>
}

/** Opens the ways out. `isHeld` is asked before each dial, so that a copy that goes live needs no restart. */
export function openEgress(config: Pick<Config, 'egressAllow'>, isHeld: () => Promise<boolean>, wire: Network = internet): Egress {
  const unlessHeld = (dialer: Dialer): Dialer => ({
    network: dialer.network,
    resolveAddresses: async (endpoint, signal) => {
      if (await isHeld()) throw new EgressFailure('held', heldMessage)
      return dialer.resolveAddresses(endpoint, signal)
    },
  })
  return { restricted: unlessHeld(restrictedDialer(config, wire)), operators: unlessHeld(operatorDialer(wire)), isHeld }
}

const heldMessage = 'This is a restored copy of the database, which calls nobody until its operator runs `bin/kontor restored --live`'
