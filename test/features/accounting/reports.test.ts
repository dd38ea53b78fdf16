import test from 'ava'
import { createAccount, openBooks } from '#test/features/accounting/books.ts'
import { createMember } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const shared = shareWorld(test, {}, { at: '2026-05-20T10:00:00Z' })

/** A year and a half of a small firm: 2025 earned 600, 2026 until May 260. */
async function firm() {
  const w = await shared()
  const { org } = w
  const books = await openBooks(org, ['1000', '1100', '2000', '3000', '4000', '4100', '5000', '5100', 'x'])
  const post = async (date: string, ...lines: string[]) => {
    const answer = await books.post(lines, { date })
    if (answer.status !== 201) throw new Error(answer.text)
  }
  await post('2025-01-02', '1000 +1000', '3000 -1000')
  await post('2025-12-31', '1100 +900', '4000 -900')
  await post('2025-12-31', '5000 +300', '1000 -300')
  await post('2026-01-01', '1000 +900', '1100 -900')
  await post('2026-03-15', '1100 +400', '4000 -350', '4100 -50')
  await post('2026-05-20', '5100 +140', '2000 -140')
  await post('2026-05-21', '5000 +1', '1000 -1')
  return { w, org, books, post }
}

const amounts = (section: { rows: readonly { code: string; amount: string }[] }) =>
  Object.fromEntries(section.rows.map(({ code, amount }) => [code, amount]))

test('reports: the trial balance is gross, covers all days, and adds up to zero', async (t) => {
  const { books } = await firm()
  t.deepEqual(await books.trialBalance(), {
    '1000': ['1900.00', '301.00', '1599.00'],
    '1100': ['1300.00', '900.00', '400.00'],
    '2000': ['0.00', '140.00', '-140.00'],
    '3000': ['0.00', '1000.00', '-1000.00'],
    '4000': ['0.00', '1250.00', '-1250.00'],
    '4100': ['0.00', '50.00', '-50.00'],
    '5000': ['301.00', '0.00', '301.00'],
    '5100': ['140.00', '0.00', '140.00'],
  })
  t.like(await books.read('/trial-balance'), { currency: 'USD', currencies: ['USD'] })
})

test('reports: profit and loss covers this year until today by default', async (t) => {
  const { books } = await firm()
  const report = await books.read('/reports/profit-loss')
  t.like(report, { net: '260.00', currency: 'USD', currencies: ['USD'] })
  t.like(report.revenue, { kind: 'revenue', total: '400.00' })
  t.deepEqual(amounts(report.revenue), { '4000': '350.00', '4100': '50.00' })
  t.deepEqual(amounts(report.expense), { '5100': '140.00' })
  t.deepEqual(report.unclassified, { kind: 'unclassified', rows: [], total: '0.00' })
  t.deepEqual(report.revenue.rows[0], { account_id: books.accounts['4000'], code: '4000', name: 'Account 4000', amount: '350.00' })
  t.is((await books.read('/reports/profit-loss?to=2025-12-31')).net, '600.00')
  t.is((await books.read('/reports/profit-loss?from=2025-12-31&to=2025-12-31')).net, '600.00')
  t.is((await books.read('/reports/profit-loss?from=2026-05-21&to=2026-05-21')).net, '-1.00')
})

test('reports: the balance sheet counts all earnings as equity', async (t) => {
  const { books, post } = await firm()
  const sheet = await books.read('/reports/balance-sheet')
  t.like(sheet, { earnings: '860.00', balanced: true, currency: 'USD' })
  t.deepEqual(amounts(sheet.assets), { '1000': '1600.00', '1100': '400.00' })
  t.deepEqual(amounts(sheet.liabilities), { '2000': '140.00' })
  t.deepEqual(amounts(sheet.equity), { '3000': '1000.00' })
  t.like(await books.read('/reports/balance-sheet?as_of=2024-12-31'), { earnings: '0.00', balanced: true })
  t.is((await books.read('/reports/balance-sheet?as_of=2025-12-31')).earnings, '600.00')
  await post('2026-05-20', 'x +5', '1000 -5')
  const unclear = await books.read('/reports/balance-sheet')
  t.like(unclear, { balanced: false, unclassified: { total: '5.00' } })
})

test('reports: the closing balance of 31 December is the opening balance of 1 January, in the ledger and in sums', async (t) => {
  const { books } = await firm()
  for (const [code, id] of Object.entries(books.accounts)) {
    const old = await books.read(`/ledger?account=${id}&to=2025-12-31`)
    const next = await books.read(`/ledger?account=${id}&from=2026-01-01`)
    const whole = await books.read(`/ledger?account=${id}`)
    t.is(old.opening, '0.00', code)
    t.is(next.opening, old.closing, code)
    t.is(next.closing, whole.closing, code)
    t.deepEqual([...old.rows, ...next.rows], whole.rows, code)
    t.is(whole.rows.at(-1)?.balance ?? '0.00', whole.closing, code)
  }
})

test('reports: the overview shows this month, the last months and idle accounts', async (t) => {
  const { books, org } = await firm()
  const view = await books.read(`/overview?cash_accounts=${books.accounts['1000']},${books.accounts['1100']}`)
  t.like(view, { revenue: '0.00', expense: '140.00', net: '-140.00', cash: '2000.00', unclassified: '0.00', entry_count: 1 })
  t.is(view.recent.length, 7)
  t.is(view.recent[0].date, '2026-05-21')
  t.is(view.months.length, 12)
  t.deepEqual(view.months.at(0), { month: '2025-06', revenue: '0.00', expense: '0.00', net: '0.00' })
  t.deepEqual(view.months.at(-1), { month: '2026-05', revenue: '0.00', expense: '140.00', net: '-140.00' })
  t.deepEqual(
    view.months.filter(({ net }: { net: string }) => net !== '0.00').map(({ month, net }: Record<string, string>) => [month, net]),
    [
      ['2025-12', '600.00'],
      ['2026-03', '400.00'],
      ['2026-05', '-140.00'],
    ],
  )
  t.deepEqual(
    view.idle_accounts.map(({ code, last_entry_date }: Record<string, string>) => [code, last_entry_date]),
    [
      ['1000', '2026-01-01'],
      ['3000', '2025-01-02'],
      ['5000', '2025-12-31'],
      ['x', null],
    ],
  )
  const dated = await books.read(`/overview?from=2025-12-01&to=2025-12-31&cash_accounts=${books.accounts['1000']}`)
  t.like(dated, { revenue: '900.00', expense: '300.00', net: '600.00', cash: '700.00', entry_count: 2 })
  t.is((await org.owner.get(`${books.path}/overview?cash_accounts=x`)).status, 400)
})

test('reports: an account without lines for 90 days is idle, for 89 days it is not', async (t) => {
  const { org } = await shared()
  const { post, read } = await openBooks(org, ['1000', '1100', '4000', '4100'])
  await post(['1000 +1', '4000 -1'], { date: '2026-02-19' })
  await post(['1100 +1', '4100 -1'], { date: '2026-02-20' })
  const idle = async (query = '') => (await read(`/overview${query}`)).idle_accounts.map(({ code }: { code: string }) => code)
  t.deepEqual(await idle('?from=2026-05-01&to=2026-05-19'), [])
  t.deepEqual(await idle(), ['1000', '4000'])
  t.deepEqual(await idle('?from=2026-05-01&to=2026-05-21'), ['1000', '1100', '4000', '4100'])
})

test('reports: codes and names that the caller may not read are empty, and no account is omitted', async (t) => {
  const { w, books, org } = await firm()
  const report = [{ effect: 'allow', actions: ['accounting:read'] }]
  const blind = await createMember(w, org, report)
  const sections = (await blind.client.get(`${books.path}/reports/balance-sheet`)).data
  t.deepEqual(
    sections.assets.rows.map(({ code, name, amount }: Record<string, string>) => [code, name, amount]).sort(),
    [
      ['', '', '1600.00'],
      ['', '', '400.00'],
    ].sort(),
  )
  t.true(sections.balanced)
  t.deepEqual((await blind.client.get(`${books.path}/overview`)).data.idle_accounts, [])
  const nameless = await createMember(w, org, [
    ...report,
    {
      effect: 'allow',
      actions: ['records:read'],
      resources: ['accounts'],
      condition: { 'resource.code': { eq: '1000' } },
      fields: { deny: ['name'] },
    },
  ])
  const rows = (await nameless.client.get(`${books.path}/reports/balance-sheet`)).data.assets.rows
  t.deepEqual(
    rows.map(({ code, name }: Record<string, string>) => [code, name]),
    [
      ['1000', ''],
      ['', ''],
    ],
  )
})

test('reports: an unused account that the caller may not read is 404; a used one has a ledger', async (t) => {
  const { w, books, org } = await firm()
  const { client } = await createMember(w, org, [{ effect: 'allow', actions: ['accounting:read'] }])
  const status = async (id?: string) => (await client.get(`${books.path}/ledger?account=${id}`)).status
  t.is(await status(books.accounts['1000']), 200)
  t.is(await status(books.accounts.x), 400)
  t.is((await org.owner.get(`${books.path}/ledger?account=${books.accounts.x}`)).status, 200)
})

test('reports: a report with days in the wrong order, an unknown currency or without an account is refused', async (t) => {
  const { books, org } = await firm()
  for (const query of [
    '/overview?from=2026-05-02&to=2026-05-01',
    '/reports/profit-loss?from=2026-02-30',
    '/reports/profit-loss?from=2026-06-01',
    '/reports/balance-sheet?as_of=today',
    '/trial-balance?currency=eur',
    '/ledger',
    `/ledger?account=${books.accounts['1000']}&limit=10001`,
    `/ledger?account=${books.accounts['1000']}&limit=0`,
    `/ledger?account=${books.accounts['1000']}&cursor=x`,
    '/trial-balance?recorded_before=2999-01-01T00:00:00Z',
    '/trial-balance?recorded_before=2026-01-01',
  ])
    t.is((await org.owner.get(books.path + query)).status, 400, query)
  t.deepEqual(await books.trialBalance('?currency=EUR'), {})
})

test('reports: a rename of an account changes no number, and an account without a kind may get one', async (t) => {
  const { books, org } = await firm()
  const before = await books.trialBalance()
  const account = `${org.path}/records/accounts/${books.accounts['1000']}/values`
  t.is((await org.owner.put(account, { values: { code: '1001', name: 'Till' } })).status, 204)
  t.deepEqual(await books.trialBalance(), before)
  const x = await createAccount(org, 'y')
  await books.post([`${x} +3`, '1000 -3'], { date: '2026-05-20' })
  t.is((await books.read('/reports/profit-loss')).unclassified.total, '3.00')
  t.is((await org.owner.put(`${org.path}/records/accounts/${x}/values`, { values: { kind: 'expense' } })).status, 204)
  t.like(await books.read('/reports/profit-loss'), { unclassified: { total: '0.00' }, expense: { total: '143.00' } })
})
