import { writeCsv } from '#shared/core/records/csv/write.ts'
import type { Account, AccountKind } from '#shared/features/accounting/accounts/accounts.ts'
import { readAmount, writeAmount } from '#shared/features/accounting/amount.ts'
import type { StoredEntry } from '#shared/features/accounting/entries/store.ts'

/** A file format of the export: its header and the text of each entry. */
export interface ExportFormat {
  readonly contentType: string
  /** File name extension without the dot. */
  readonly extension: string
  readonly writeHeader: (books: ExportedBooks) => string
  readonly writeEntry: (entry: StoredEntry, accountOf: (id: string) => Account) => string
}

/** The exported ledger, as a format's header needs it. */
interface ExportedBooks {
  readonly workspaceId: string
  /** Exclusive instant: the entries were posted before it. */
  readonly before: string
  readonly currencies: readonly string[]
  /** Every account with lines. */
  readonly accounts: readonly Account[]
  /** Date of the earliest entry; null without entries. */
  readonly firstDate: string | null
}

/** A journal file for hledger. An entry's id is its transaction code. */
const hledger: ExportFormat = {
  contentType: 'text/plain; charset=utf-8',
  extension: 'journal',
  writeHeader: ({ workspaceId, before, currencies, accounts }) =>
    [
      `; Kontor, workspace ${workspaceId}, everything posted before ${before}`,
      'decimal-mark .',
      ...currencies.map((currency) => `commodity ${currency}`),
      ...accounts.map((account) => `account ${accountName(account)}${account.name === '' ? '' : `  ; ${escapeComment(account.name)}`}`),
      '',
      '',
    ].join('\n'),
  writeEntry: ({ id, date, memo, currency, lines, reverses }, accountOf) => {
    const postings = lines.map(({ account_id, debit, credit, memo }) => {
      const amount = writeAmount(readAmount(debit) - readAmount(credit), currency)
      const note = escapeComment(memo)
      return `    ${accountName(accountOf(account_id))}  ${amount} ${currency}${note && `  ; ${note}`}`
    })
    const note = reverses === null ? '' : `  ; reverses:${reverses}`
    return `${[`${date} * (${id}) ${escapeDescription(memo)}`.trimEnd() + note, ...postings].join('\n')}\n\n`
  },
}

/** A ledger file for beancount. An entry's id, source and reversed entry are its metadata. */
const beancount: ExportFormat = {
  contentType: 'text/plain; charset=utf-8',
  extension: 'beancount',
  writeHeader: ({ workspaceId, before, accounts, firstDate }) =>
    [
      `; Kontor, workspace ${workspaceId}, everything posted before ${before}`,
      'option "name_income" "Income"',
      ...accounts.flatMap((account) => {
        const name = account.name === '' ? [] : [`  name: ${quoted(account.name)}`]
        return [`${firstDate} open ${accountName(account)}`, ...name]
      }),
      '',
      '',
    ].join('\n'),
  writeEntry: ({ id, date, memo, source_type, source_id, currency, lines, reverses }, accountOf) => {
    const values = { id, source_type, ...(source_id === null ? {} : { source_id }), ...(reverses === null ? {} : { reverses }) }
    const metadata = Object.entries(values).map(([key, value]) => `  ${key}: ${quoted(value)}`)
    const postings = lines.flatMap(({ account_id, debit, credit, memo }) => {
      const amount = writeAmount(readAmount(debit) - readAmount(credit), currency)
      return [`  ${accountName(accountOf(account_id))}  ${amount} ${currency}`, ...(memo === '' ? [] : [`    memo: ${quoted(memo)}`])]
    })
    return `${[`${date} * ${quoted(memo)}`, ...metadata, ...postings].join('\n')}\n\n`
  },
}

const header = [
  ...['entry_id', 'date', 'posted_at', 'memo', 'source_type', 'source_id', 'reverses', 'currency'],
  ...['line_id', 'account_id', 'account_code', 'account_name', 'account_kind', 'debit', 'credit', 'line_memo'],
]

/** CSV with one row per line; each row repeats the columns of its entry. */
const csv: ExportFormat = {
  contentType: 'text/csv; charset=utf-8',
  extension: 'csv',
  writeHeader: () => writeCsv([header]),
  writeEntry: ({ id, date, created_at, memo, source_type, source_id, reverses, currency, lines }, accountOf) =>
    writeCsv(
      lines.map((line) => {
        const account = accountOf(line.account_id)
        const amounts = [line.debit, line.credit].map((text) => writeAmount(readAmount(text), currency))
        return [
          ...[id, date, created_at, memo, source_type, source_id ?? '', reverses ?? '', currency],
          ...[line.id, line.account_id, account.code, account.name, account.kind ?? '', ...amounts, line.memo],
        ]
      }),
    ),
}

/** Export formats by name. */
export const exportFormats = { hledger, beancount, csv } as const satisfies Readonly<Record<string, ExportFormat>>

// In comments hledger parses tags (`name:`; `date:` moves a posting) and dates in brackets. In descriptions a semicolon begins a comment.
const escapeComment = (text: string): string => oneLine(text).replaceAll(/[:[\],]/g, ' ')
const escapeDescription = (text: string): string => oneLine(text).replaceAll(';', ',')

const quoted = (text: string): string => `"${oneLine(text).replaceAll(/["\\]/g, '\\$&')}"`

/** Replaces control characters and all kinds of line breaks with blanks. */
const oneLine = (text: string): string => text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim()

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
 * Escapes a code to a name component that beancount accepts: a capital or a digit, then letters, digits and dashes. Each UTF-8 byte of any
 * other character becomes a dash and two hexadecimal digits. A code that does not begin with a digit or a capital gets the prefix X. So
 * does a code that begins with U, X or Z, which are the initials of `Unclassified`, of prefixed codes and of ids.
 */
function escapeCode(code: string): string {
  const escaped = code.replaceAll(/[^A-Za-z0-9]/gu, (character) =>
    [...Buffer.from(character)].map((byte) => `-${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  )
  return /^[0-9A-TVWY]/.test(code) ? escaped : `X${escaped}`
}
