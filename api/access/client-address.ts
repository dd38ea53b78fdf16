import ipaddr from 'ipaddr.js'

/** The key by which a client's address is counted: the /64 prefix of an IPv6 address; an IPv4-mapped IPv6 address counts as IPv4. */
export function clientKey(text: string): string {
  if (!ipaddr.isValid(text)) return 'unknown'
  const address = ipaddr.process(text)
  return address instanceof ipaddr.IPv6
    ? address.parts
        .slice(0, 4)
        .map((part) => part.toString(16))
        .join(':')
    : address.toString()
}
