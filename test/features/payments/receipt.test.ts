import test from 'ava'
import { connect, makeLink } from '#test/features/payments/place.ts'
import { shareProviders } from '#test/features/payments/providers.ts'
import { readSandboxPayments } from '#test/features/payments/rows.ts'
import type { World } from '#test/support/world.ts'

const newWorkspace = shareProviders(test)

async function payable(more: object) {
  const w = await newWorkspace()
  const link = await makeLink(w.org, await connect(w.org, 'sandbox'), more)
  return { w, path: new URL(link.short_url).pathname }
}

async function pay(w: World, path: string, headers: Record<string, string> = {}) {
  const page = await w.visitor.get(path)
  const formToken = /name="form_token" value="([^"]+)"/.exec(page.text)?.[1] ?? ''
  const body = new URLSearchParams({ form_token: formToken, action: 'pay', name: 'Pia', email: 'pia@example.com' }).toString()
  return w.visitor.post(path, body, { 'content-type': 'application/x-www-form-urlencoded', ...headers })
}

const amountIn = (text: string) => /class="amount"><bdi lang="([^"]+)">([^<]+)</.exec(text)?.slice(1)

test('receipt: the amount of a pay page is large, in the reader’s language and complete', async (t) => {
  const { w, path } = await payable({ amount: '12345678901234.5', currency: 'EUR' })
  const seen = async (language: string) => amountIn((await w.visitor.get(path, { 'accept-language': language })).text)
  t.deepEqual(await seen('de-DE,de;q=0.9,en;q=0.8'), ['de-DE', '12.345.678.901.234,50\u00a0€'])
  t.deepEqual(await seen('en-IE'), ['en-IE', '€12,345,678,901,234.50'])
  t.deepEqual(await seen('fr;q=0.2, ja;q=0.7, xx;q=1, *;q=0.1'), ['ja', '€12,345,678,901,234.50'])
  for (const none of ['', '*', 'xx', '<b>', 'a'.repeat(400), 'de;q=0'])
    t.deepEqual(await seen(none), ['en', '€12,345,678,901,234.50'], none)
  const page = await w.visitor.get(path)
  t.regex(page.text, /<button type="submit" name="action" value="decline" class="quiet">/)
})

test('receipt: amounts in currencies without a fraction have none', async (t) => {
  const { w, path } = await payable({ amount: '1200', currency: 'JPY' })
  t.deepEqual(amountIn((await w.visitor.get(path)).text), ['en', '¥1,200'])
})

test('receipt: the code of a currency is named once', async (t) => {
  const { w, path } = await payable({ amount: '1234.567', currency: 'KWD' })
  const [amount = ''] = /<p class="amount">.*<\/p>/.exec((await w.visitor.get(path)).text) ?? []
  t.true(amount.includes('KWD\u00a01,234.567'), amount)
  t.is(amount.split('KWD').length, 2, amount)
})

test('receipt: after a payment, the page shows a receipt with date and reference, also later', async (t) => {
  const { w, path } = await payable({ amount: '12.5', description: 'Two chairs', redirect_url: 'https://shop.example/thanks' })
  const paid = await pay(w, path)
  t.regex(paid.text, /http-equiv="refresh"/, 'the answer to the payment leads on')
  await w.drain()
  const [payment] = await readSandboxPayments(w.db, w.org.id)
  if (!payment) return t.fail('There is no payment')
  const again = await w.visitor.get(path)
  t.notRegex(again.text, /http-equiv="refresh"/, 'the receipt stays')
  for (const { text } of [paid, again]) {
    t.true(text.includes(`<dt>Reference</dt><dd><code>${payment.id}</code>`))
    t.regex(text, new RegExp(`<dt>Date</dt><dd><bdi lang="en">[A-Z][a-z]+ \\d{1,2}, ${payment.created_at.getUTCFullYear()}`))
    t.regex(text, /<dt>Paid to<\/dt><dd><bdi>Acme</)
    t.regex(text, /data-print hidden/)
    t.regex(text, /href="https:\/\/shop\.example\/thanks">Go on</)
  }
  t.deepEqual(amountIn(again.text), ['en', '$12.50'])
  t.regex(again.headers.get('content-security-policy') ?? '', /script-src 'nonce-[\w-]{20,}'/)
})
