import { readAmount, writeAmount } from '#shared/accounting/amount.ts'
import { accountName } from '#shared/accounting/export/account-names.ts'
import { type ExportFormat, oneLine } from '#shared/accounting/export/format.ts'

// In comments hledger reads tags (`name:`), of which `date:` moves a posting, and dates in brackets; in descriptions a semicolon begins one.
const comment = (text: string): string => oneLine(text).replaceAll(/[:[\],]/g, ' ')
const description = (text: string): string => oneLine(text).replaceAll(';', ',')

/** A journal for hledger. An entry's id is its transaction code. */
export const hledger: ExportFormat = {
  contentType: 'text/plain; charset=utf-8',
  extension: 'journal',
  head: ({ workspaceId, before, currencies, accounts }) =>
    [
      `; Kontor, workspace ${workspaceId}, everything posted before ${before}`,
      'decimal-mark .',
      ...currencies.map((currency) => `commodity ${currency}`),
      ...accounts.map((account) => `account ${accountName(account)}${account.name === '' ? '' : `  ; ${comment(account.name)}`}`),
      '',
      '',
    ].join('\n'),
  entry: ({ id, date, memo, currency, lines, reverses }, accountOf) => {
    const postings = lines.map(({ account_id, debit, credit, memo }) => {
      const amount = writeAmount(readAmount(debit) - readAmount(credit), currency)
      const note = comment(memo)
      return `    ${accountName(accountOf(account_id))}  ${amount} ${currency}${note && `  ; ${note}`}`
    })
    const note = reverses === null ? '' : `  ; reverses:${reverses}`
    return `${[`${date} * (${id}) ${description(memo)}`.trimEnd() + note, ...postings].join('\n')}\n\n`
  },
}
