import { domainToASCII } from 'node:url'

/**
 * Normalized address for comparison: the domain in lower case and ASCII, the local part in lower case. Mail goes to the address as written,
 * since a server may treat local parts as case-sensitive.
 */
export function contactKey(address: string): string {
  const at = address.lastIndexOf('@')
  const domain = address.slice(at + 1)
  return `${address.slice(0, at).normalize('NFC').toLowerCase()}@${domainToASCII(domain) || domain.toLowerCase()}`
}

/** Keys checked against the do-not-contact list: an entry for `ann@` also blocks `ann+shop@`. */
export function contactKeys(address: string): readonly string[] {
  const key = contactKey(address)
  const untagged = key.replace(/^([^+]+)\+.*@/, '$1@')
  return untagged === key ? [key] : [key, untagged]
}
