import test from 'ava'
import { updateMonthSums } from '#shared/features/accounting/reports/month-sums.ts'
import { openBooks } from '#test/features/accounting/books.ts'
import { raiseMonthSum, readMonthSums } from '#test/features/accounting/rows.ts'
import type { Org } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const shared = shareWorld(test, {}, { at: '2026-05-20T10:00:00Z' })

const sum = async ({ id }: Org) => updateMonthSums({ db: (await shared()).api.services.database, workspace: { id } })
const kept = async ({ id }: Org) => readMonthSums((await shared()).db, id)

/** Books with an entry of 1, 2, 4, … on each of these days, so that every sum says which of them are in it. */
async function filled() {
  const { org } = await shared()
  const books = await openBooks(org, ['1000', '4000'])
  const days = [
    '2025-12-31',
    '2026-01-01',
    '2026-01-31',
    '2026-02-01',
    '2026-02-28',
    '2026-03-01',
    '2026-03-02',
    '2026-05-20',
    '2026-05-31',
  ]
  for (const [index, date] of days.entries()) await books.post([`1000 +${2 ** index}`, `4000 -${2 ** index}`], { date })
  const expected = (from: string, to: string) => days.reduce((sum, day, index) => sum + (day >= from && day <= to ? 2 ** index : 0), 0)
  return { org, books, expected }
}

const spans = ['2025-12-31', '2026-01-01', '2026-01-02', '2026-01-31', '2026-02-01', '2026-02-28', '2026-03-01', '2026-05-20', '2026-05-31']

test('months: stored sums of months change no report, for any first and last day', async (t) => {
  const { org, books, expected } = await filled()
  const check = async (name: string, more: (from: string, to: string) => number = () => 0) => {
    for (const [index, from] of spans.entries()) {
      for (const to of spans.slice(index)) {
        const { net } = await books.read(`/reports/profit-loss?from=${from}&to=${to}`)
        t.is(Number(net), expected(from, to) + more(from, to), `${name} ${from} ${to}`)
      }
    }
  }
  await check('lines')
  await sum(org)
  await check('months')
  await books.post(['1000 +0.50', '4000 -0.50'], { date: '2026-02-01' })
  await check('months and lines', (from, to) => (from <= '2026-02-01' && to >= '2026-02-01' ? 0.5 : 0))
  t.is((await kept(org)).length, 10)
  t.true((await books.read('/verify')).ok)
})

test('months: reports as of an instant before and after the sums are correct', async (t) => {
  const { org, books } = await filled()
  const { created_at: before } = (await books.post(['1000 +1000', '4000 -1000'], { date: '2026-02-02' })).data
  const early = await books.trialBalance(`?recorded_before=${before}`)
  await sum(org)
  const { created_at: after } = (await books.post(['1000 +2000', '4000 -2000'], { date: '2026-02-02' })).data
  t.deepEqual(await books.trialBalance(`?recorded_before=${before}`), early)
  t.is((await books.trialBalance(`?recorded_before=${after}`))['1000']?.[2], '1511.00')
  t.is((await books.trialBalance())['1000']?.[2], '3511.00')
})

test('months: repeated summing counts nothing twice, even concurrently with posts', async (t) => {
  const { org, books } = await filled()
  await Promise.all([
    ...Array.from({ length: 10 }, () => sum(org)),
    ...Array.from({ length: 20 }, () => books.post(['1000 +1', '4000 -1'], { date: '2026-04-01' })),
  ])
  await sum(org)
  await sum(org)
  t.is((await books.trialBalance())['1000']?.[2], '531.00')
  const april = (await kept(org)).filter(({ month }) => month === '2026-04-01')
  t.deepEqual(april.map(({ debit, credit }) => Number(debit) - Number(credit)).sort(), [-20, 20])
  t.true((await books.read('/verify')).ok)
})

test('months: verify finds a wrong sum', async (t) => {
  const { org, books } = await filled()
  await sum(org)
  const { db } = await shared()
  await raiseMonthSum(db, org.id)
  const { ok, differences } = await books.read('/verify')
  t.false(ok)
  t.like(differences, [{ kind: 'balance', id: books.accounts['1000'] }])
})

test('months: a report over many lines makes a worker store their sums', async (t) => {
  const w = await shared()
  const { org } = w
  const books = await openBooks(org, ['1000', '4000'])
  const lines = Array.from({ length: 200 }, (_, index) => (index % 2 === 0 ? '1000 +1' : '4000 -1'))
  const post = () => books.post(lines, { date: '2026-05-01' })
  for (let entry = 1; entry < 25; entry++) await post()
  await books.trialBalance()
  await w.drain()
  t.is((await kept(org)).length, 0)
  await post()
  const before = await books.trialBalance()
  await w.drain()
  t.is((await kept(org)).length, 2)
  t.deepEqual(await books.trialBalance(), before)
  t.is(before['1000']?.[2], '2500.00')
})
