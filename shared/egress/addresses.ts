import { networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'

/** Blocks that ipaddr.js takes for ordinary unicast: the wire server of Azure, and IPv4-compatible IPv6, which a URL may spell. */
const further = ['168.63.129.16/32', '::/96'].map((block) => ipaddr.parseCIDR(block))

/**
 * Whether an IP address is one of the public internet: no private, loopback, link-local, translated, documented or otherwise special
 * block, no address of this machine itself. Text that is no address is not public.
 */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false
  // An IPv4-mapped address is judged as the IPv4 address that it leads to.
  const address = ipaddr.process(text)
  return address.range() === 'unicast' && !isFurther(address) && !isOwn(address)
}

const isFurther = (address: ipaddr.IPv4 | ipaddr.IPv6): boolean =>
  further.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits))

/** Asked each time, since interfaces come and go; what listens on every address of this machine would answer at a public one too. */
const isOwn = (address: ipaddr.IPv4 | ipaddr.IPv6): boolean =>
  Object.values(networkInterfaces()).some((list) =>
    list?.some((one) => ipaddr.process(one.address.replace(/%.*/, '')).toNormalizedString() === address.toNormalizedString()),
  )
