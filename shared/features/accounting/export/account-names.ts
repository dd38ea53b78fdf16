import type { Account, AccountKind } from '#shared/features/accounting/accounts/accounts.ts'

/** First component of an account's name, known to both hledger and beancount. */
const rootNames: Readonly<Record<AccountKind, string>> = {
  asset: 'Assets',
  liability: 'Liabilities',
  equity: 'Equity',
  revenue: 'Income',
  expense: 'Expenses',
}

/** Parent of accounts without a kind. */
const unclassifiedRoot = 'Equity:Unclassified'

/**
 * The name of an account in plain-text accounting: its kind and its code, such as `Assets:1000`. Names are unique. A code that the caller
 * may not read is replaced by the account's id.
 */
export const accountName = ({ id, code, kind }: Account): string =>
  `${kind === null ? unclassifiedRoot : rootNames[kind]}:${code === '' ? `Z${id.replaceAll('-', '')}` : escapeCode(code)}`

/**
 * Escapes a code to a component that beancount accepts: a capital or a digit, then letters, digits and dashes. Each UTF-8 byte of any other
 * character becomes a dash and two hexadecimal digits. A code that begins with neither a digit nor a capital gets the prefix X, and so does
 * one that begins with U, X or Z: these are reserved for `Unclassified`, for this prefix and for ids.
 */
function escapeCode(code: string): string {
  const escaped = code.replaceAll(/[^A-Za-z0-9]/gu, (character) =>
    [...Buffer.from(character)].map((byte) => `-${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  )
  return /^[0-9A-TVWY]/.test(code) ? escaped : `X${escaped}`
}
