import { readAmount, writeAmount } from '#shared/features/accounting/amount.ts'
import { accountName } from '#shared/features/accounting/export/account-names.ts'
import { type ExportFormat, oneLine } from '#shared/features/accounting/export/format.ts'

// In comments hledger parses tags (`name:`; `date:` moves a posting) and dates in brackets. In descriptions a semicolon begins a comment.
const escapeComment = (text: string): string => oneLine(text).replaceAll(/[:[\],]/g, ' ')
const escapeDescription = (text: string): string => oneLine(text).replaceAll(';', ',')

/** A journal file for hledger. An entry's id is its transaction code. */
export const hledger: ExportFormat = {
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
