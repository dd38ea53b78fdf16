import test from 'ava'
import { type Books, openBooks } from '#test/features/accounting/books.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const shared = shareWorld(test)

const memos = ({ entries }: { entries: readonly { memo: string }[] }) => entries.map(({ memo }) => memo)

async function filled(): Promise<Books> {
  const w = await shared()
  const { org } = w
  await org.owner.patch(org.path, { multi_currency: true })
  const books = await openBooks(org, ['1000', '1100', '4000'])
  const post = async (memo: string, date: string, lines: readonly string[], currency = 'USD') =>
    (await books.post(lines, { memo, date, currency })).data.id as string
  const a = await post('a', '2026-01-31', ['1000 +1', '4000 -1'])
  await post('b', '2026-01-01', ['1100 +2', '4000 -2'])
  await post('c', '2026-02-01', ['1000 +3', '4000 -3'], 'EUR')
  const d = await post('d', '2026-02-02', ['1000 +4', '4000 -4'])
  await org.owner.post(`${books.path}/entries/${d}/reverse`)
  const { data } = await org.owner.post(`${books.path}/entries/${a}/reverse`)
  await org.owner.post(`${books.path}/entries/${data.id}/reverse`)
  return books
}

test('list: entries are listed newest first, by date, account, currency and status', async (t) => {
  const { read, accounts, post } = await filled()
  const [rd, ra, rra] = ['Reversal of d', 'Reversal of a', 'Reversal of Reversal of a']
  const all = await read('/entries')
  t.deepEqual(memos(all), [rra, ra, rd, 'd', 'c', 'b', 'a'])
  t.is(all.total, 7)
  const cases: readonly [query: string, expected: readonly string[]][] = [
    ['from=2026-02-01', [rd, 'd', 'c']],
    ['to=2026-01-30', ['b']],
    ['from=2026-01-31&to=2026-02-01', [rra, ra, 'c', 'a']],
    [`account=${accounts['1100']}`, ['b']],
    [`account=${accounts['1000']}&from=2026-02-01`, [rd, 'd', 'c']],
    [`account=${accounts['1000']}&currency=EUR`, ['c']],
    [`account=${accounts['1000']}&status=active`, ['c']],
    [`account=${accounts['1000']}&status=reversed&to=2026-01-31`, [ra, 'a']],
    [`account=${accounts['4000']}&status=reversal`, [rra, ra, rd]],
    ['currency=EUR', ['c']],
    ['currency=JPY', []],
    ['status=active', ['c', 'b']],
    ['status=reversed', [ra, 'd', 'a']],
    ['status=reversal', [rra, ra, rd]],
    ['status=active&currency=USD&from=2026-01-01', ['b']],
    ['limit=2&offset=1', [ra, rd]],
    ['offset=7', []],
  ]
  for (const [query, expected] of cases) {
    const page = await read(`/entries?${query}`)
    t.deepEqual(memos(page), expected, query)
    t.is(page.total, query.includes('offset') ? 7 : expected.length, query)
  }
  await post(['1100 +1', '1100 +2', '4000 -3'], { memo: 'twice' })
  const twice = await read(`/entries?account=${accounts['1100']}`)
  t.deepEqual([memos(twice), twice.total], [['twice', 'b'], 2])
  t.is(all.entries[1].reversed_by, all.entries[0].id)
  t.is(all.entries[0].reverses, all.entries[1].id)
})

test('list: a list accepts limits within their range only', async (t) => {
  const w = await shared()
  const { path } = await openBooks(w.org, [])
  const status = async (query: string) => (await w.org.owner.get(`${path}/entries?${query}`)).status
  for (const query of ['limit=1', 'limit=200', 'offset=0']) t.is(await status(query), 200, query)
  for (const query of [
    'limit=0',
    'limit=201',
    'offset=-1',
    'from=2026-02-30',
    'to=x',
    'from=2026-02-02&to=2026-02-01',
    'account=x',
    'status=posted',
    'limit=1.5',
    'currency=usd',
  ])
    t.is(await status(query), 400, query)
})

test('list: entries of another workspace and invalid ids are 404', async (t) => {
  const w = await shared()
  const { read, path } = await filled()
  const [{ id }] = (await read('/entries')).entries
  const own = `${w.org.path}/accounting/entries`
  for (const at of [`${own}/${id}`, `${own}/x`, `${path}/entries/${id}0`]) t.is((await w.org.owner.get(at)).status, 404, at)
  t.is((await w.org.owner.post(`${own}/${id}/reverse`)).status, 404)
})
