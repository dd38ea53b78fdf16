import { readAmount, writeAmount } from '#shared/features/accounting/amount.ts'
import { accountName } from '#shared/features/accounting/export/account-names.ts'
import { type ExportFormat, oneLine } from '#shared/features/accounting/export/format.ts'

const quoted = (text: string): string => `"${oneLine(text).replaceAll(/["\\]/g, '\\$&')}"`

/** A ledger file for beancount. An entry's id, source and reversed entry are its metadata. */
export const beancount: ExportFormat = {
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
