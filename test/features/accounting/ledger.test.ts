import { randomUUID } from 'node:crypto'
import { crc32 } from 'node:zlib'
import test from 'ava'
import { readLedger } from '#shared/features/accounting/reports/ledger.ts'
import { makeCursor } from '#shared/platform/kernel/cursor.ts'
import { openBooks } from '#test/features/accounting/books.ts'
import { createOrg } from '#test/support/factories.ts'
import { scopeOf } from '#test/support/scope.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const shared = shareWorld(test)

test('ledger: each page of a ledger continues after the previous one, by date, then by posting', async (t) => {
  const w = await shared()
  const { org } = w
  const books = await openBooks(org, ['1000', '4000'])
  const account = books.accounts['1000']
  const dates = ['2026-03-01', '2026-01-05', '2026-01-05', '2026-02-01', '2026-01-04', '2026-03-01', '2026-01-05']
  for (const [index, date] of dates.entries()) {
    const amount = index + 1
    await books.post([`1000 +${amount}`, '1000 -0.25', `4000 -${amount - 0.25}`], { date, memo: `m${index}` })
  }
  const whole = await books.read(`/ledger?account=${account}`)
  t.is(whole.rows.length, 14)
  t.is(whole.next_cursor, null)
  t.deepEqual(
    whole.rows.filter((_: unknown, index: number) => index % 2 === 0).map(({ memo }: { memo: string }) => memo),
    ['m4', 'm1', 'm2', 'm6', 'm3', 'm0', 'm5'],
  )
  const paged: object[] = []
  let cursor = ''
  do {
    const page = await books.read(`/ledger?account=${account}&limit=3${cursor && `&cursor=${cursor}`}`)
    t.like(page, { opening: '0.00', closing: whole.closing })
    paged.push(...page.rows)
    cursor = page.next_cursor ?? ''
  } while (cursor)
  t.deepEqual(paged, whole.rows)
  t.is(whole.closing, whole.rows.at(-1).balance)
  const february = await books.read(`/ledger?account=${account}&from=2026-01-05&to=2026-02-01`)
  t.like(february, { opening: whole.rows[1].balance, closing: whole.rows[9].balance })
  t.deepEqual(february.rows, whole.rows.slice(2, 10))
})

test('ledger: a cursor is valid for its query only, and only unchanged', async (t) => {
  const w = await shared()
  const books = await openBooks(await createOrg(w), ['1000', '1100'])
  for (const amount of ['1', '2']) await books.post([`1000 +${amount}`, `1100 -${amount}`], { date: '2026-01-05' })
  const path = `${books.path}/ledger?limit=1&account=`
  const { owner } = w.org
  const other = await openBooks(w.org, ['1000'])
  const { next_cursor: cursor } = await books.read(`/ledger?limit=1&account=${books.accounts['1000']}`)
  t.is(typeof cursor, 'string')
  const wrong = [
    `${path}${books.accounts['1100']}&cursor=${cursor}`,
    `${path}${books.accounts['1000']}&from=2026-01-01&cursor=${cursor}`,
    `${path}${books.accounts['1000']}&cursor=${cursor.slice(1)}`,
  ]
  for (const address of wrong) t.is((await w.visitor.as(owner.token).get(address)).status, 404, 'not of this workspace')
  t.is((await owner.get(`${other.path}/ledger?limit=1&account=${other.accounts['1000']}&cursor=${cursor}`)).status, 400)
  for (const address of wrong) await t.throwsAsync(books.read(address.slice(books.path.length)), { message: /VALIDATION_ERROR/ })
})

test('ledger: a position that names no line is a bad cursor, whatever signed it', async (t) => {
  const w = await shared()
  const org = await createOrg(w)
  const books = await openBooks(org, ['1000', '1100'])
  for (const amount of ['1', '2']) await books.post([`1000 +${amount}`, `1100 -${amount}`], { date: '2026-01-05' })
  const account = books.accounts['1000'] ?? ''
  const scope = { ...(await scopeOf(w, org, { id: org.ownerId, type: 'user' })), cursorBinding: () => 'test' }
  const first = await readLedger(scope, { account, limit: 1 })
  t.is((await readLedger(scope, { account, limit: 1, cursor: first.next_cursor ?? '' })).rows[0]?.balance, '3.00')
  const line = {
    date: '2026-01-05',
    posted_at: '2026-01-05T10:00:00.5Z',
    entry_id: randomUUID(),
    position: 1,
    balance: '100',
    currency: first.currency,
  }
  const wrong = [
    {},
    ...Object.keys(line).flatMap((name) => ['x', '', null, 1e9, '-infinity', '9'.repeat(80)].map((value) => ({ ...line, [name]: value }))),
  ]
  await t.notThrowsAsync(readLedger(scope, { account, limit: 1, cursor: makeCursor(scope, line) }))
  for (const position of wrong)
    await t.throwsAsync(
      readLedger(scope, { account, limit: 1, cursor: makeCursor(scope, position) }),
      { code: 'VALIDATION_ERROR', message: /^cursor / },
      JSON.stringify(position),
    )
})

test('ledger: a cursor made by its holder states no balance', async (t) => {
  const w = await shared()
  const { org } = w
  const books = await openBooks(org, ['1000', '1100'])
  await books.post(['1000 +1', '1100 -1'], { date: '2026-01-05' })
  const account = books.accounts['1000']
  const { currency } = await books.read(`/ledger?account=${account}`)
  const list = ['ledger', org.id, account, currency, undefined, undefined, undefined].join(' ')
  for (const position of ['-infinity|-infinity|00000000-0000-0000-0000-000000000000|0|999900', 'x|x|x|x|x', '', '2026-01-05']) {
    const cursor = Buffer.from(`${position}~${crc32(`${list}\n${position}`).toString(36)}`).toString('base64url')
    const answer = await org.owner.get(`${books.path}/ledger?account=${account}&cursor=${cursor}`)
    t.is(answer.status, 400, answer.text)
  }
})

test('ledger: a line without a memo shows the memo of its entry', async (t) => {
  const w = await shared()
  const books = await openBooks(await createOrg(w), ['1000', '4000'])
  const lines = [
    { account_id: books.accounts['1000'], debit: 1, memo: 'Own' },
    { account_id: books.accounts['4000'], credit: 1 },
  ]
  await books.post([], { lines, memo: 'Whole' })
  const memo = async (code: string) => (await books.read(`/ledger?account=${books.accounts[code]}`)).rows[0].memo
  t.deepEqual([await memo('1000'), await memo('4000')], ['Own', 'Whole'])
})

test('ledger: a page has at most 10 MB and ends early where its lines have long memos', async (t) => {
  const w = await shared()
  const books = await openBooks(await createOrg(w), ['1000', '4000'])
  const long = Array.from({ length: 199 }, () => ({ account_id: books.accounts['1000'], debit: 1, memo: '😀'.repeat(500) }))
  for (let entry = 0; entry < 26; entry++) {
    t.is((await books.post([], { lines: [...long, { account_id: books.accounts['4000'], credit: 199 }] })).status, 201)
  }
  const balances: string[] = []
  let cursor = ''
  do {
    const page = await books.read(`/ledger?account=${books.accounts['1000']}&limit=10000${cursor && `&cursor=${cursor}`}`)
    t.true(Buffer.byteLength(JSON.stringify(page)) <= 10_000_000)
    balances.push(...page.rows.map(({ balance }: { balance: string }) => balance))
    cursor = page.next_cursor ?? ''
  } while (cursor)
  t.deepEqual(
    balances,
    Array.from({ length: 26 * 199 }, (_, index) => `${index + 1}.00`),
  )
})
