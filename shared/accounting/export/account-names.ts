import type { Account, Kind } from '#shared/accounting/accounts.ts'

/** The first part of an account's name, as hledger and beancount both know it. */
const roots: Readonly<Record<Kind, string>> = {
  asset: 'Assets',
  liability: 'Liabilities',
  equity: 'Equity',
  revenue: 'Income',
  expense: 'Expenses',
}

/** Where accounts without a kind stand. */
const unclassified = 'Equity:Unclassified'

/**
 * The name of an account in plain-text accounting: its kind and its code, such as `Assets:1000`. Two accounts never get the same one. A code
 * that the caller may not read is replaced by the account's id.
 */
export const accountName = ({ id, code, kind }: Account): string =>
  `${kind === null ? unclassified : roots[kind]}:${code === '' ? `Z${id.replaceAll('-', '')}` : component(code)}`

/**
 * A code as one component that beancount takes: a capital or a digit, then letters, digits and dashes. Any other character is written as its
 * bytes of UTF-8, each a dash and two hexadecimal digits. A code that begins with anything but a digit or a capital stands behind an X, and
 * so do those that begin with U, X or Z: these are kept for `Unclassified`, for this, and for ids.
 */
function component(code: string): string {
  const escaped = code.replaceAll(/[^A-Za-z0-9]/gu, (character) =>
    [...Buffer.from(character)].map((byte) => `-${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  )
  return /^[0-9A-TVWY]/.test(code) ? escaped : `X${escaped}`
}
