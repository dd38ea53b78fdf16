import { domainToASCII } from 'node:url'

/**
 * The one spelling by which addresses are compared: the domain in lower case and ASCII, the local part in lower case. A server may tell
 * letters apart in a local part, so mail goes out to the address as it was written.
 */
export function contactKey(address: string): string {
  const at = address.lastIndexOf('@')
  const domain = address.slice(at + 1)
  return `${address.slice(0, at).normalize('NFC').toLowerCase()}@${domainToASCII(domain) || domain.toLowerCase()}`
}

/** The spellings under which somebody may stand on the do-not-contact list: who wants no mail at `ann@` wants none at `ann+shop@` either. */
export function contactKeys(address: string): readonly string[] {
  const key = contactKey(address)
  const untagged = key.replace(/^([^+]+)\+.*@/, '$1@')
  return untagged === key ? [key] : [key, untagged]
}
