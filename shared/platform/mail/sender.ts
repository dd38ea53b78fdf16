import { problem } from '#shared/platform/kernel/errors.ts'
import { isEmail } from '#shared/platform/kernel/values/email.ts'

/** The sender of a mail, as in its From header. */
export interface Sender {
  /** Empty for an address without a name. */
  readonly name: string
  readonly address: string
}

const inLine = /^[^\p{Cc}\p{Zl}\p{Zp}<>"]*$/u

/** Reads `name <address>`, or an address alone. */
export function parseSender(text: string): Sender {
  const [, name = '', angled] = /^(.*?)<([^<>]*)>$/s.exec(text.trim()) ?? []
  return { name: name.trim().replace(/^"(.*)"$/s, '$1'), address: (angled ?? text).trim() }
}

/** Returns a sender as `name <address>`, or the address alone when it has no name. Throws VALIDATION_ERROR for any other text. */
export function normalizeSender(text: string): string {
  const { name, address } = parseSender(text)
  if (!isEmail(address)) throw problem('VALIDATION_ERROR', 'from must be an address, or a name with an address in angle brackets')
  if (!inLine.test(name)) throw problem('VALIDATION_ERROR', 'from must have a name in one line, without quotes and angle brackets')
  return name === '' ? address : `${name} <${address}>`
}
