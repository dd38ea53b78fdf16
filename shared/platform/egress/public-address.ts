import { networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'

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
