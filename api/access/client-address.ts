import ipaddr from 'ipaddr.js'

/**
 * The address in an entry of `X-Forwarded-For`: some proxies add the port, as `203.0.113.7:5432` and `[2001:db8::7]:5432`. Returns any other
 * text as it is.
 */
export function withoutPort(entry: string): string {
  const [, inBrackets, beforePort] = /^\[([^\]]+)\](?::\d+)?$|^([\d.]+):\d+$/.exec(entry.trim()) ?? []
  return inBrackets ?? beforePort ?? entry
}

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
