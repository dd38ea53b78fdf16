import { randomUUID } from 'node:crypto'
import test from 'ava'
import { openBooks } from '#test/features/accounting/books.ts'
import { countEntries } from '#test/features/accounting/rows.ts'
import { createOrg } from '#test/support/factories.ts'
import { once } from '#test/support/once.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const shared = shareWorld(test)
const open = once(async () => {
  const w = await shared()
  return { w, books: await openBooks(w.org, ['1000', '1100', '2000', '4000', '5000', 'x']) }
})

const largest = '9223372036854'
const six = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/

test('entries: an entry is posted, read, listed and reversed', async (t) => {
  const { w, books } = await open()
  const { owner } = w.org
  const sent = { date: '2026-03-05', memo: 'Invoice 17', source_type: 'invoice', source_id: 'INV-17' }
  const posted = await books.post(['1100 +119', '4000 -100', '2000 -19'], sent)
  t.is(posted.status, 201, posted.text)
  t.like(posted.data, { ...sent, total: '119.00', currency: 'USD' })
  t.regex(posted.data.created_at, six)
  t.false('reverses' in posted.data || 'reversed_by' in posted.data)
  t.deepEqual(
    posted.data.lines.map(({ account_id, debit, credit, memo }: Record<string, string>) => [account_id, debit, credit, memo]),
    [
      [books.accounts['1100'], '119.00', '0.00', ''],
      [books.accounts['4000'], '0.00', '100.00', ''],
      [books.accounts['2000'], '0.00', '19.00', ''],
    ],
  )
  const path = `${books.path}/entries/${posted.data.id}`
  t.deepEqual((await owner.get(path)).data, posted.data)
  const reversal = await owner.post(`${path}/reverse`)
  t.is(reversal.status, 201, reversal.text)
  t.like(reversal.data, { date: '2026-03-05', memo: 'Reversal of Invoice 17', total: '119.00', currency: 'USD', reverses: posted.data.id })
  t.deepEqual(
    reversal.data.lines.map(({ debit, credit }: Record<string, string>) => [debit, credit]),
    [
      ['0.00', '119.00'],
      ['100.00', '0.00'],
      ['19.00', '0.00'],
    ],
  )
  t.is((await owner.get(path)).data.reversed_by, reversal.data.id)
  const again = await owner.post(`${path}/reverse`)
  t.is(again.status, 400)
  t.is(again.body.error.message, 'The entry is already reversed')
})

test('entries: an entry that was read can be posted again', async (t) => {
  const { w, books } = await open()
  const first = await books.post(['1000 +0.000001', '4000 -0.000001'], { memo: 'm' })
  const again = await w.org.owner.post(`${books.path}/entries`, first.data)
  t.is(again.status, 201, again.text)
  t.not(again.data.id, first.data.id)
  t.is(again.data.total, '0.000001')
})

test('entries: an entry without a date is of today in UTC, manual and in the default currency', async (t) => {
  const { w, books } = await open()
  const { data } = await books.post(['1000 +1', '4000 -1'], { date: null, memo: null, source_type: null, source_id: null, currency: null })
  t.like(data, { memo: '', source_type: 'manual', source_id: null, currency: 'USD' })
  t.is(data.date, w.api.services.now().toISOString().slice(0, 10))
})

const one = { debit: '1' }
const other = { credit: '1' }
const refusals: readonly [name: string, lines: readonly object[], message: RegExp, more?: object][] = [
  ['one line', [one], /^lines must have at least 2 items/],
  ['201 lines', Array(201).fill(one), /^lines must have at most 200 items/],
  ['a millionth off', [{ debit: '10.000001' }, { credit: '10' }], /^lines must balance: debits are 10\.000001, credits are 10\.00$/],
  ['rounding, as beancount allows it', [{ debit: '150.25' }, { credit: '150.3' }], /debits are 150\.25, credits are 150\.30$/],
  ['both sides', [{ debit: '1', credit: '1' }, other], /^lines\[0\] must have either/],
  ['no side', [one, {}], /^lines\[1\] must have a debit or a credit/],
  ['two zeros', [{ debit: '0', credit: '0.00' }, other], /^lines\[0\] must have a debit or a credit/],
  ['a negative amount', [one, { credit: '-1' }], /^lines\[1\]\.credit must be a decimal number/],
  ['a negative zero', [{ debit: '1', credit: '-0.00' }, other], /^lines\[0\]\.credit must be/],
  ['a seventh decimal', [{ debit: '1.0000001' }, other], /^lines\[0\]\.debit must be/],
  ['an exponent', [{ debit: '1e2' }, other], /^lines\[0\]\.debit must be/],
  ['a leading plus', [{ debit: '+1' }, other], /^lines\[0\]\.debit must be/],
  ['a separator', [{ debit: '1_000' }, other], /^lines\[0\]\.debit must be/],
  ['a comma', [{ debit: '1,5' }, other], /^lines\[0\]\.debit must be/],
  ['digits of another script', [{ debit: '１２' }, other], /^lines\[0\]\.debit must be/],
  ['hexadecimal', [{ debit: '0x10' }, other], /^lines\[0\]\.debit must be/],
  ['blanks', [{ debit: ' 1' }, other], /^lines\[0\]\.debit must be/],
  ['a list', [{ debit: [1] }, other], /^lines\[0\]\.debit must be/],
  ['one past the largest', [{ debit: '9223372036854.000001' }, other], /^lines\[0\]\.debit must be at most 9223372036854$/],
  ['14 digits', [{ debit: '10000000000000' }, other], /^lines\[0\]\.debit must be/],
  ['a day that is none', [one, other], /^date must be a day/, { date: '2026-02-30' }],
  ['an instant', [one, other], /^date must be a day/, { date: '2026-02-03T00:00:00Z' }],
  ['no currency of the list', [one, other], /^currency must be an ISO 4217 code/, { currency: 'usd' }],
  ['another currency', [one, other], /^currency must be USD: the workspace keeps its books/, { currency: 'EUR' }],
  ['a long memo', [one, other], /^memo must have at most 500/, { memo: 'm'.repeat(501) }],
  ['a long memo of a line', [{ ...one, memo: 'm'.repeat(501) }, other], /^lines\[0\]\.memo must have at most 500/],
  [
    'an account that is none',
    [one, { ...other, account_id: randomUUID() }],
    /^lines\[1\]\.account_id must be the id of an accounts record/,
  ],
  ['no id', [one, { ...other, account_id: '1000' }], /^lines\[1\]\.account_id must be a valid uuid/],
]
for (const [name, lines, message, more] of refusals) {
  test(`entries: a post is refused: ${name}`, async (t) => {
    const { w, books } = await open()
    const sent = lines.map((line) => ({ account_id: books.accounts['1000'], ...line }))
    const answer = await w.org.owner.post(`${books.path}/entries`, { lines: sent, ...more })
    t.is(answer.status, 400, answer.text)
    t.is(answer.body.error.code, 'VALIDATION_ERROR')
    t.regex(answer.body.error.message, message)
  })
}

test('entries: JSON numbers keep every digit', async (t) => {
  const { w, books } = await open()
  const accounts = [books.accounts['1000'], books.accounts['4000']]
  const post = (amount: string) =>
    w.org.owner.post(
      `${books.path}/entries`,
      `{"lines": [{"account_id": "${accounts[0]}", "debit": ${amount}}, {"account_id": "${accounts[1]}", "credit": ${amount}}]}`,
      { 'content-type': 'application/json' },
    )
  t.is((await post('1234567890123.123456')).data.total, '1234567890123.123456')
  t.is((await post('12.50')).data.total, '12.50')
  for (const wrong of ['1e2', '-1', '-0.0', '12345678901234.5', '0.1234567']) t.is((await post(wrong)).status, 400, wrong)
})

test('entries: the largest entry is exact', async (t) => {
  const { org } = await shared()
  const { post, trialBalance } = await openBooks(org, ['1000', '4000'])
  const lines = Array.from({ length: 200 }, (_, index) => (index % 2 === 0 ? `1000 +${largest}` : `4000 -${largest}`))
  const { status, data, text } = await post(lines)
  t.is(status, 201, text)
  t.is(data.total, '922337203685400.00')
  t.is(data.lines.length, 200)
  t.deepEqual(await trialBalance(), {
    '1000': ['922337203685400.00', '0.00', '922337203685400.00'],
    '4000': ['0.00', '922337203685400.00', '-922337203685400.00'],
  })
})

test('entries: an account of another workspace is unknown', async (t) => {
  const { w, books } = await open()
  const foreign = await openBooks(await createOrg(w), ['1000'])
  const answer = await books.post(['1000 +1', `${foreign.accounts['1000']} -1`])
  t.is(answer.status, 400)
  t.regex(answer.body.error.message, /^lines\[1\]\.account_id must be/)
})

test('entries: an Idempotency-Key posts once, even if 10 callers send it at once', async (t) => {
  const { w, books } = await open()
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => books.post(['1000 +7', '4000 -7'], { memo: 'once' }, w.org.owner, { 'idempotency-key': 'seven' })),
  )
  t.deepEqual([...new Set(answers.map(({ data }) => data.id))].length, 1)
  t.is(await countEntries(w.db, w.org.id, 'once'), 1)
})
