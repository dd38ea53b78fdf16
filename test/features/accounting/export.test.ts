import test from 'ava'
import { parse } from 'csv-parse/sync'
import { openBooks } from '#test/features/accounting/books.ts'
import { balancesOfBeancount, balancesOfHledger } from '#test/features/accounting/journal-grammar.ts'
import { createMember, createOrg } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const shared = shareWorld(test)

/** Memos that would be something else in a journal. */
const memos = [
  'Plain',
  '; a comment',
  '(code) ! * status',
  'line\nbreak\r\n2026-01-01 * not an entry\n    Assets:1000  5 USD',
  'quote " and \\ backslash',
  'payee | note  two blanks',
  'date:2026-99-99, [2026-88-88]',
  '= 5 @ 3 {4}',
  'Ünïcödé ✓ 漢字 \u202e',
  '',
]
const codes = ['1000', '10 00', '10:00', '10-00', 'x', 'Xx', 'X-78', 'Unclassified', 'kasse', 'ÄÖ', '漢', '-', ';', '10-2000', 'Z']

async function filled() {
  const w = await shared()
  const { org } = w
  await org.owner.patch(org.path, { multi_currency: true })
  const books = await openBooks(org, codes)
  for (const [index, memo] of memos.entries()) {
    const [one = '', other = ''] = [codes[index % codes.length], codes[(index * 7 + 3) % codes.length]]
    const lines = [
      { account_id: books.accounts[one], debit: `${index + 1}.00${index}`, memo },
      { account_id: books.accounts[other], credit: `${index + 1}.00${index}` },
    ]
    const date = `2026-01-${31 - index}`
    const currency = ['USD', 'EUR', 'JPY', 'KWD'][index % 4]
    const answer = await books.post([], { lines, memo, date, currency, source_id: memo })
    if (answer.status !== 201) throw new Error(answer.text)
  }
  const [{ id }] = (await books.read('/entries')).entries
  await org.owner.post(`${books.path}/entries/${id}/reverse`)
  return { org, books }
}

/** The balances that are not zero, by currency and name of the account. */
async function expected(books: Awaited<ReturnType<typeof openBooks>>): Promise<string[]> {
  const found: string[] = []
  for (const currency of ['USD', 'EUR', 'JPY', 'KWD']) {
    for (const [, , balance] of Object.values(await books.trialBalance(`?currency=${currency}`))) {
      if (Number(balance) !== 0) found.push(`${Number(balance)} ${currency}`)
    }
  }
  return found.sort()
}

const sizes = (balances: ReadonlyMap<string, bigint>): string[] =>
  [...balances]
    .filter(([, amount]) => amount !== 0n)
    .map(([key, amount]) => `${Number(amount) / 1e6} ${key.split(' ')[1]}`)
    .sort()

test('export: journals parsed by their grammar have the balances of the books, with one account for each code', async (t) => {
  const { org, books } = await filled()
  const right = await expected(books)
  t.true(right.length > 10)
  for (const [format, extension, read] of [
    ['hledger', 'journal', balancesOfHledger],
    ['beancount', 'beancount', balancesOfBeancount],
  ] as const) {
    const answer = await org.owner.get(`${books.path}/export?format=${format}`)
    t.is(answer.status, 200, answer.text)
    t.is(answer.headers.get('content-type'), 'text/plain; charset=utf-8')
    t.is(answer.headers.get('content-disposition'), `attachment; filename="ledger.${extension}"`)
    const { balances, entries } = read(answer.text)
    t.is(entries, memos.length + 1)
    t.deepEqual(sizes(balances), right)
  }
})

test('export: the rows of the CSV contain all lines of the books, by date', async (t) => {
  const { org, books } = await filled()
  const answer = await org.owner.get(`${books.path}/export?format=csv`)
  t.is(answer.headers.get('content-type'), 'text/csv; charset=utf-8')
  const rows: Record<string, string>[] = parse(answer.text, { columns: true })
  t.is(rows.length, 2 * (memos.length + 1))
  t.deepEqual(
    rows.map(({ date }) => date),
    rows.map(({ date }) => date).toSorted(),
  )
  const { entries } = await books.read('/entries?limit=200')
  for (const entry of entries) {
    const own = rows.filter(({ entry_id }) => entry_id === entry.id)
    t.deepEqual(
      own.map(({ account_id, debit, credit }) => [account_id, debit, credit]),
      entry.lines.map(({ account_id, debit, credit }: Record<string, string>) => [account_id, debit, credit]),
    )
    t.like(own[0], { date: entry.date, posted_at: entry.created_at, currency: entry.currency, reverses: entry.reverses ?? '' })
    t.is(own[0]?.memo?.replace(/^'/, ''), entry.memo)
  }
})

test('export: an account whose code the caller may not read is exported by its id', async (t) => {
  const w = await shared()
  const { org, books } = await filled()
  const { client } = await createMember(w, org, [{ effect: 'allow', actions: ['accounting:read'] }])
  const { text } = await client.get(`${books.path}/export?format=beancount`)
  t.deepEqual(sizes(balancesOfBeancount(text).balances), await expected(books))
  t.true(text.includes(`Assets:Z${books.accounts['1000']?.replaceAll('-', '')}`))
  t.false(text.includes('Account '), 'no name of an account')
})

test('export: empty books are an empty journal, and other formats are refused', async (t) => {
  const w = await shared()
  const { path } = await openBooks(await createOrg(w), [])
  const books = await openBooks(w.org, ['1000'])
  for (const format of ['hledger', 'beancount']) {
    const { status, text } = await w.org.owner.get(`${books.path}/export?format=${format}`)
    t.is(status, 200)
    t.is((format === 'hledger' ? balancesOfHledger : balancesOfBeancount)(text).entries, 0)
  }
  t.is((await w.org.owner.get(`${books.path}/export?format=ledger`)).status, 400)
  t.is((await w.org.owner.get(`${books.path}/export`)).status, 400)
  t.is((await w.org.owner.get(`${path}/export?format=csv`)).status, 404)
})
