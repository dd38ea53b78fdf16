import { createRecord } from '#shared/core/records/create/create-record.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { requireRecordType } from '#shared/core/types/record-type.ts'
import { postEntry } from '#shared/features/accounting/entries/post.ts'
import { chartAccounts } from './chart.ts'

/** A transaction of a small agency: day of the month, memo, and lines as `code ±amount`. */
interface Transaction {
  readonly day: number
  readonly memo: string
  readonly lines: readonly string[]
}

/** Project fees of the twelve months; they vary so that reports show a trend. */
const fees = [6_400, 7_150, 5_200, 8_300, 9_100, 7_750, 6_900, 4_300, 8_850, 10_200, 9_400, 11_050]
const retainer = 2_000
const monthsShown = fees.length

/** Creates the chart for services and a year of postings that ends today, so that every report has content. */
export async function createDemoBooks(scope: Scope): Promise<void> {
  const ids = new Map<string, string>()
  const type = await requireRecordType(scope, 'accounts')
  for (const values of chartAccounts('services')) ids.set(values.code, (await createRecord(scope, type, values)).id)
  const today = scope.now().toISOString().slice(0, 10)
  for (const month of Array.from({ length: monthsShown }, (_, index) => index)) {
    for (const { day, memo, lines } of transactionsOf(month)) {
      const date = dateOf(today, monthsShown - 1 - month, day)
      if (date <= today) await postEntry(scope, { date, memo, lines: lines.map((line) => lineOf(line, ids)) })
    }
  }
}

function transactionsOf(month: number): readonly Transaction[] {
  const fee = fees[month] ?? 0
  const previousFee = fees[month - 1]
  const opening: readonly Transaction[] = [
    { day: 1, memo: 'Opening capital', lines: ['1000 +20000', '3000 -20000'] },
    { day: 2, memo: 'Four notebooks', lines: ['1500 +7200', '1000 -7200'] },
  ]
  const payment: Transaction = {
    day: 14,
    memo: 'Invoices of last month paid',
    lines: [`1000 +${(previousFee ?? 0) + retainer}`, `1100 -${(previousFee ?? 0) + retainer}`],
  }
  const insurance: Transaction = { day: 9, memo: 'Insurance of the year', lines: ['6500 +1140', '1000 -1140'] }
  return [
    ...(month === 0 ? opening : []),
    { day: 1, memo: 'Rent of the studio', lines: ['6100 +1450', '1000 -1450'] },
    { day: 3, memo: 'Software', lines: ['6200 +238.90', '2050 -238.90'] },
    { day: 5, memo: 'Retainer', lines: [`1100 +${retainer}`, `4100 -${retainer}`] },
    ...(month === 2 ? [insurance] : []),
    { day: 11, memo: 'Project fees', lines: [`1100 +${fee}`, `4000 -${fee}`] },
    ...(previousFee === undefined ? [] : [payment]),
    ...(month % 3 === 1 ? [{ day: 17, memo: 'Illustrator', lines: ['5000 +960', '2000 -960'] }] : []),
    ...(month % 3 === 2 ? [{ day: 6, memo: 'Illustrator paid', lines: ['2000 +960', '1000 -960'] }] : []),
    { day: 25, memo: 'Salary', lines: ['6000 +4300', '6010 +680', '1000 -3390', '2200 -1590'] },
    { day: 27, memo: 'Credit card paid', lines: ['2050 +238.90', '1000 -238.90'] },
    { day: 28, memo: 'Contributions and bank fees', lines: ['2200 +1590', '6600 +12.50', '1000 -1602.50'] },
    { day: 28, memo: 'Depreciation of the notebooks', lines: ['6700 +200', '1590 -200'] },
  ]
}

/** Date of a day in the month `monthsBefore` months before `today`. */
function dateOf(today: string, monthsBefore: number, day: number): string {
  const [year = 0, month = 0] = today.split('-').map(Number)
  return new Date(Date.UTC(year, month - 1 - monthsBefore, day)).toISOString().slice(0, 10)
}

/** Parses a line: `1000 +12.50` debits the account 1000, `-` credits. */
function lineOf(text: string, ids: ReadonlyMap<string, string>) {
  const [code = '', amount = ''] = text.split(' ')
  return { account_id: ids.get(code) ?? '', [amount.startsWith('+') ? 'debit' : 'credit']: amount.slice(1) }
}
