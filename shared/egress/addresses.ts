import { networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'

/** Special blocks that ipaddr.js counts as unicast: Azure's wire server, and IPv4-compatible IPv6, which a URL may contain. */
const specialBlocks = ['168.63.129.16/32', '::/96'].map((block) => ipaddr.parseCIDR(block))

/**
 * Whether text is a public IP address: not in a private, loopback, link-local, translated, documentation or otherwise special block, and
 * not an address of this machine. Returns false for text that is not an IP address.
 */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false
  // An IPv4-mapped address is checked as its IPv4 address.
  const address = ipaddr.process(text)
  return address.range() === 'unicast' && !isInSpecialBlock(address) && !isLocalAddress(address)
}

const isInSpecialBlock = (address: ipaddr.IPv4 | ipaddr.IPv6): boolean =>
  specialBlocks.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits))

/** Reads the interfaces on each call, since they change. A service that listens on all addresses answers at this machine's public one. */
const isLocalAddress = (address: ipaddr.IPv4 | ipaddr.IPv6): boolean =>
  Object.values(networkInterfaces()).some((list) =>
    list?.some((one) => ipaddr.process(one.address.replace(/%.*/, '')).toNormalizedString() === address.toNormalizedString()),
  )
