import { createHash } from 'node:crypto'
import test from 'ava'
import { type Books, openBooks } from '#test/features/accounting/books.ts'
import { breakSeal, mendSeal, setDebit, setMemo } from '#test/features/accounting/rows.ts'
import type { Org } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const shared = shareWorld(test)

const open = async () => {
  const w = await shared()
  const { org } = w
  return { org, books: await openBooks(org, ['1000', '4000']) }
}
const sale = (books: Books, amount: string, date = '2026-01-15') => books.post([`1000 +${amount}`, `4000 -${amount}`], { date })
const seal = ({ owner }: Org, { path }: Books, body: object = {}) => owner.post(`${path}/seals`, body)

/** The hash of a seal, computed by the rules of shared/features/accounting/README.md from answers of the API. */
function hashOf(previous: string | null, until: string, entries: readonly Record<string, unknown>[]): string {
  const six = (amount: string) => {
    const [units, digits = ''] = amount.split('.')
    return `${units}.${digits.padEnd(6, '0')}`
  }
  const text = entries.map(({ id, date, memo, source_type, source_id, total, currency, created_at, reverses = null, lines }) =>
    JSON.stringify({
      id,
      date,
      memo,
      source_type,
      source_id,
      total: six(`${total}`),
      currency,
      created_at,
      reverses,
      lines: (lines as Record<string, string>[]).map(({ id, account_id, debit = '', credit = '', memo }) => ({
        id,
        account_id,
        debit: six(debit),
        credit: six(credit),
        memo,
      })),
    }),
  )
  return createHash('sha256')
    .update([JSON.stringify({ previous, until }), ...text].map((line) => `${line}\n`).join(''))
    .digest('hex')
}

test('sealed: seals are a chain of hashes that anybody can compute', async (t) => {
  const { org, books } = await open()
  const first = [(await sale(books, '1.5')).data, (await sale(books, '2', '2025-01-01')).data]
  const one = await seal(org, books)
  t.is(one.status, 201, one.text)
  t.like(one.data, { entries: 2, previous: null })
  t.is(one.data.hash, hashOf(null, one.data.until, first))
  t.true(first.every(({ created_at }) => created_at < one.data.until))
  const second = [(await sale(books, '3')).data]
  second.push((await org.owner.post(`${books.path}/entries/${first[0].id}/reverse`)).data)
  const two = await seal(org, books)
  t.like(two.data, { entries: 2, previous: one.data.hash })
  t.is(two.data.hash, hashOf(one.data.hash, two.data.until, second))
  const earlier = await seal(org, books, { until: one.data.until })
  t.like(earlier.data, { entries: 0, previous: two.data.hash, until: one.data.until })
  await sale(books, '4')
  const last = await seal(org, books)
  t.like(last.data, { entries: 1, previous: earlier.data.hash })
  t.deepEqual(await books.read('/seals'), [one.data, two.data, earlier.data, last.data])
  t.deepEqual(await books.read('/verify'), { ok: true, entries: 5, seals: 4, differences: [] })
})

test('sealed: a seal of an instant between two entries covers only the first', async (t) => {
  const { org, books } = await open()
  await sale(books, '1')
  const { created_at } = (await sale(books, '2')).data
  t.like((await seal(org, books, { until: created_at })).data, { entries: 1, until: created_at })
  t.is((await seal(org, books)).data.entries, 1)
})

test('sealed: a seal of a future or invalid instant is refused', async (t) => {
  const { org, books } = await open()
  for (const until of ['2999-01-01T00:00:00Z', '2026-01-01', 'now', '']) t.is((await seal(org, books, { until })).status, 400, until)
  t.deepEqual(await books.read('/seals'), [])
  t.deepEqual(await books.read('/verify'), { ok: true, entries: 0, seals: 0, differences: [] })
})

test('sealed: verify finds changes made past the database’s triggers', async (t) => {
  const w = await shared()
  const { org, books } = await open()
  const { id } = (await sale(books, '10')).data
  await sale(books, '20')
  await seal(org, books)
  const tampered = async (change: () => Promise<void>, undo: () => Promise<void>) => {
    await change()
    const found = await books.read('/verify')
    await undo()
    return found
  }
  const memo = await tampered(
    () => setMemo(w.db, id, 'other'),
    () => setMemo(w.db, id, ''),
  )
  t.like(memo, { ok: false, entries: 2, seals: 1 })
  t.is(memo.differences.length, 1)
  t.is(memo.differences[0].kind, 'seal')
  const unbalanced = await tampered(
    () => setDebit(w.db, id, 11),
    () => setDebit(w.db, id, 10),
  )
  t.deepEqual(unbalanced.differences.map(({ kind }: { kind: string }) => kind).sort(), ['entry', 'seal'])
  const hash = await tampered(
    () => breakSeal(w.db, org.id),
    () => mendSeal(w.db, org.id),
  )
  t.is(hash.differences[0].kind, 'seal')
  t.true((await books.read('/verify')).ok)
})

test('sealed: a report as of an instant never changes', async (t) => {
  const { org, books } = await open()
  const account = books.accounts['1000']
  await sale(books, '1')
  const paths = (before: string) =>
    [
      '/trial-balance',
      `/ledger?account=${account}`,
      '/reports/profit-loss?from=2026-01-01&to=2026-12-31',
      '/reports/balance-sheet?as_of=2026-12-31',
    ]
      .concat(['/overview?from=2026-01-01&to=2026-01-31', '/export?format=csv'])
      .map((path) => `${path}${path.includes('?') ? '&' : '?'}recorded_before=${before}`)
  const texts = async (before: string) => Promise.all(paths(before).map(async (path) => (await org.owner.get(books.path + path)).text))
  const { id, created_at } = (await sale(books, '2')).data
  const before = await texts(created_at)
  await org.owner.post(`${books.path}/entries/${id}/reverse`)
  await org.owner.patch(org.path, { multi_currency: true })
  await books.post(['1000 +5', '4000 -5'], { date: '2026-01-10', currency: 'EUR' })
  await sale(books, '4', '2025-06-01')
  t.deepEqual(await texts(created_at), before)
  t.deepEqual(await books.trialBalance(`?recorded_before=${created_at}`), {
    '1000': ['1.00', '0.00', '1.00'],
    '4000': ['0.00', '1.00', '-1.00'],
  })
  t.deepEqual((await books.read(`/trial-balance?recorded_before=${created_at}`)).currencies, ['USD'])
})
