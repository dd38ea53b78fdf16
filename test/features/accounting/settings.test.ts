import test from 'ava'
import { openBooks } from '#test/features/accounting/books.ts'
import { createMember } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const shared = shareWorld(test)

test('settings: nothing can be posted on a day in closed books', async (t) => {
  const w = await shared()
  const { org } = w
  const books = await openBooks(org, ['1000', '4000'])
  const post = (date: string) => books.post(['1000 +1', '4000 -1'], { date, memo: 'Sale' })
  const may = (await post('2026-05-15')).data
  const closed = await org.owner.patch(org.path, { books_closed_through: '2026-06-30' })
  t.is(closed.data.books_closed_through, '2026-06-30')
  t.is((await org.owner.get(org.path)).data.books_closed_through, '2026-06-30')
  const refused = await post('2026-06-30')
  t.is(refused.status, 400)
  t.is(refused.body.error.message, 'date 2026-06-30 is closed: the books are closed through 2026-06-30')
  t.is((await post('2026-07-01')).status, 201)
  const reverse = (body?: object) => org.owner.post(`${books.path}/entries/${may.id}/reverse`, body)
  const undated = await reverse()
  t.is(undated.status, 400)
  t.regex(undated.body.error.message, /^date 2026-05-15 is closed: .* 2026-06-30; send a \{"date"\}/)
  t.is((await reverse({ date: '2026-06-30' })).status, 400)
  t.is((await reverse({ date: '2026-07-32' })).status, 400)
  const reversal = await reverse({ date: '2026-07-01' })
  t.is(reversal.status, 201, reversal.text)
  t.like(reversal.data, { date: '2026-07-01', memo: 'Reversal of Sale', reverses: may.id })
  t.is((await org.owner.patch(org.path, { books_closed_through: null })).data.books_closed_through, null)
  t.is((await post('2026-06-30')).status, 201)
})

test('settings: a closing date is a day or null', async (t) => {
  const w = await shared()
  const { org } = w
  t.is((await org.owner.get(org.path)).data.books_closed_through, null)
  for (const wrong of ['2026-02-30', '30.06.2026', '', 20260630]) {
    t.is((await org.owner.patch(org.path, { books_closed_through: wrong })).status, 400, `${wrong}`)
  }
  await org.owner.patch(org.path, { books_closed_through: '2025-12-31' })
  t.is((await org.owner.patch(org.path, { name: 'Other' })).data.books_closed_through, '2025-12-31')
})

test('settings: books are in one currency until they are upgraded', async (t) => {
  const w = await shared()
  const { org } = w
  const books = await openBooks(org, ['1000', '4000'])
  const post = (currency?: string, amount = '100') => books.post([`1000 +${amount}`, `4000 -${amount}`], { currency })
  t.is((await org.owner.patch(org.path, { default_currency: 'JPY' })).status, 200)
  t.is((await post('USD')).body.error.message, 'currency must be JPY: the workspace keeps its books in its default currency only')
  const yen = (await post()).data
  t.like(yen, { currency: 'JPY', total: '100' })
  t.like(yen.lines[0], { debit: '100', credit: '0' })
  const changed = await org.owner.patch(org.path, { default_currency: 'EUR' })
  t.is(changed.status, 400)
  t.regex(changed.body.error.message, /^default_currency cannot change once an entry is posted/)
  t.is((await org.owner.patch(org.path, { default_currency: 'JPY' })).status, 200)
  t.is((await org.owner.patch(org.path, { multi_currency: true })).status, 200)
  t.is((await org.owner.patch(org.path, { multi_currency: false })).status, 400)
  t.like((await post('KWD', '1.5')).data, { currency: 'KWD', total: '1.500' })
  t.like((await post('EUR', '1.5')).data, { currency: 'EUR', total: '1.50' })
  t.is((await org.owner.patch(org.path, { default_currency: 'EUR' })).status, 200)
  t.like(await books.read('/trial-balance'), { currency: 'EUR', currencies: ['EUR', 'JPY', 'KWD'] })
  t.deepEqual(await books.trialBalance('?currency=KWD'), { '1000': ['1.500', '0.000', '1.500'], '4000': ['0.000', '1.500', '-1.500'] })
  t.deepEqual(await books.trialBalance('?currency=JPY'), { '1000': ['100', '0', '100'], '4000': ['0', '100', '-100'] })
})

test('settings: the default currency and the upgrade may change together', async (t) => {
  const w = await shared()
  const { org } = w
  const books = await openBooks(org, ['1000', '4000'])
  await books.post(['1000 +1', '4000 -1'])
  t.is((await org.owner.patch(org.path, { default_currency: 'EUR', multi_currency: true })).status, 200)
})

test('settings: posting needs accounting:post, reading accounting:read', async (t) => {
  const w = await shared()
  const { org } = w
  const books = await openBooks(org, ['1000', '4000'])
  const reader = await createMember(w, org, [{ effect: 'allow', actions: ['accounting:read'] }])
  const writer = await createMember(w, org, [{ effect: 'allow', actions: ['accounting:post'] }])
  t.is((await books.post(['1000 +1', '4000 -1'], {}, reader.client)).status, 403)
  const posted = await books.post(['1000 +1', '4000 -1'], {}, writer.client)
  t.is(posted.status, 201)
  t.is((await writer.client.get(`${books.path}/entries`)).status, 403)
  t.is((await reader.client.get(`${books.path}/entries/${posted.data.id}`)).status, 200)
  await org.owner.patch(org.path, { apps: { accounting: false } })
  t.is((await books.post(['1000 +1', '4000 -1'])).status, 404)
})
