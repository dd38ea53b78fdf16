import { ids } from '#api/http/example-ids.ts'

export const sale = {
  id: ids.entry,
  date: '2026-11-21',
  memo: 'Order of Café Lindgren',
  source_type: 'manual',
  source_id: null,
  total: '128.50',
  currency: 'EUR',
  created_at: '2026-11-21T09:30:00.606288Z',
  lines: [
    { id: ids.cashLine, account_id: ids.cash, debit: '128.50', credit: '0.00', memo: '' },
    { id: ids.salesLine, account_id: ids.sales, debit: '0.00', credit: '128.50', memo: '' },
  ],
}
export const reversal = {
  ...sale,
  id: ids.reversal,
  memo: 'Reversal of Order of Café Lindgren',
  created_at: '2026-11-21T10:02:41.903641Z',
  lines: [
    { id: ids.reversedCashLine, account_id: ids.cash, debit: '0.00', credit: '128.50', memo: '' },
    { id: ids.reversedSalesLine, account_id: ids.sales, debit: '128.50', credit: '0.00', memo: '' },
  ],
  reverses: ids.entry,
}

const money = { currency: 'EUR', currencies: ['EUR'] }
export const trialBalance = {
  ...money,
  rows: [
    { account_id: ids.cash, debit: '128.50', credit: '0.00', balance: '128.50' },
    { account_id: ids.sales, debit: '0.00', credit: '128.50', balance: '-128.50' },
  ],
}
export const ledger = {
  ...money,
  rows: [{ entry_id: ids.entry, date: '2026-11-21', memo: sale.memo, debit: '128.50', credit: '0.00', balance: '128.50' }],
  opening: '0.00',
  closing: '128.50',
  next_cursor: null,
}
export const overview = {
  ...money,
  revenue: '128.50',
  expense: '0.00',
  net: '128.50',
  cash: '128.50',
  unclassified: '0.00',
  entry_count: 1,
  recent: [sale],
  months: [{ month: '2026-11', revenue: '128.50', expense: '0.00', net: '128.50' }],
  idle_accounts: [],
}

const nothing = (kind: string) => ({ kind, rows: [], total: '0.00' })
const of = (kind: string, account_id: string, code: string, name: string, amount: string) => ({
  kind,
  rows: [{ account_id, code, name, amount }],
  total: amount,
})
export const profitLoss = {
  ...money,
  revenue: of('revenue', ids.sales, '4400', 'Sales of coffee', '128.50'),
  expense: nothing('expense'),
  unclassified: nothing('unclassified'),
  net: '128.50',
}
export const balanceSheet = {
  ...money,
  assets: of('asset', ids.cash, '1000', 'Cash', '128.50'),
  liabilities: nothing('liability'),
  equity: nothing('equity'),
  unclassified: nothing('unclassified'),
  earnings: '128.50',
  balanced: true,
}

export const seal = {
  id: ids.seal,
  until: '2026-11-21T10:30:00.638946Z',
  entries: 2,
  hash: 'ca65efa4133b7ae1345348c90cea21a58aaef97278d0de8e660d8221519e2d3a',
  previous: null,
  created_at: '2026-11-21T10:30:00.640654Z',
}

export const journal = `; Kontor, workspace ${ids.workspace}, everything posted before 2026-11-21T10:00:00.000000Z
decimal-mark .
commodity EUR
account Assets:1000  ; Cash
account Income:4400  ; Sales of coffee

2026-11-21 * (${ids.entry}) Order of Café Lindgren
    Assets:1000  128.50 EUR
    Income:4400  -128.50 EUR

`
