import { randomUUID } from 'node:crypto'
import test from 'ava'
import { letDue } from '#test/features/payments/due.ts'
import { connect, linkOf, makeLink, paymentsOf, recordsOf, storyOf } from '#test/features/payments/place.ts'
import { shareProviders } from '#test/features/payments/providers.ts'
import { countSandboxPayments, expireSandboxLink, refuseWebhookEvents } from '#test/features/payments/rows.ts'
import { retryJobsNow } from '#test/support/rows.ts'
import type { World } from '#test/support/world.ts'

const newWorkspace = shareProviders(test)

const start = async () => {
  const w = await newWorkspace()
  return { w, connectionId: await connect(w.org, 'sandbox') }
}
const pathOf = ({ short_url }: { short_url: string }) => new URL(short_url).pathname
const formTokenIn = (html: string) => /name="form_token" value="([^"]+)"/.exec(html)?.[1] ?? ''
const send = async (w: World, path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
  w.visitor.post(path, new URLSearchParams(fields).toString(), { 'content-type': 'application/x-www-form-urlencoded', ...headers })

test('sandbox: a payer pays on the page, the webhook is called, and the page redirects back', async (t) => {
  const { w, connectionId } = await start()
  const link = await makeLink(w.org, connectionId, {
    amount: '12.5',
    description: '<b>Two</b> chairs',
    customer_name: '😀'.repeat(150),
    redirect_url: 'https://shop.example/thanks?order=1',
  })
  const page = await w.visitor.get(pathOf(link))
  t.is(page.status, 200)
  t.regex(page.headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/)
  t.is(page.headers.get('referrer-policy'), 'same-origin')
  t.regex(page.text, />\$12\.50</)
  t.regex(page.text, /&lt;b&gt;Two&lt;\/b&gt; chairs/)
  t.regex(page.text, /value="(?:😀){150}"/u)
  const fields = { form_token: formTokenIn(page.text), name: 'Pia Payer', email: 'pia@example.com' }
  const declined = await send(w, pathOf(link), { ...fields, name: '😀'.repeat(150), action: 'decline' })
  t.regex(declined.text, /was declined/)
  await w.drain()
  const paid = await send(w, pathOf(link), { ...fields, action: 'pay' })
  t.is(paid.status, 200)
  t.regex(paid.text, /http-equiv="refresh" content="\d; url=https:\/\/shop\.example\/thanks\?order=1"/)
  t.regex(paid.text, /<a class="button" href="https:\/\/shop\.example\/thanks\?order=1">/)
  await w.drain()
  t.is((await linkOf(w.org, link.id)).status, 'paid')
  const [record] = await recordsOf(w.org)
  t.like(record.values, { provider: 'sandbox', link_id: link.id, payer_name: 'Pia Payer', payer_email: 'pia@example.com' })
  t.like(record.values.amount, { amount: 12.5, code: 'USD' })
  t.deepEqual((await storyOf(w.org, link.id)).slice(1), ['webhook: failed (created > created)', 'webhook: paid (created > paid)'])
  const again = await send(w, pathOf(link), { ...fields, action: 'pay' })
  t.regex(again.text, /the payment has been made/)
  t.regex((await w.visitor.get(pathOf(link))).text, /the payment has been made/)
  await w.drain()
  t.is((await recordsOf(w.org)).length, 1)
})

test('sandbox: a page accepts only its own form, and shows each error beside its field', async (t) => {
  const { w, connectionId } = await start()
  const [link, other] = [await makeLink(w.org, connectionId), await makeLink(w.org, connectionId)]
  const formToken = formTokenIn((await w.visitor.get(pathOf(link))).text)
  const foreign = formTokenIn((await w.visitor.get(pathOf(other))).text)
  const wrong: [Record<string, string>, RegExp][] = [
    [{ action: 'pay' }, /Please try again/],
    [{ action: 'pay', form_token: foreign }, /Please try again/],
    [{ action: 'pay', form_token: `${formToken}x` }, /Please try again/],
    [{ action: 'refund', form_token: formToken }, /pay or to decline/],
    [{ action: 'pay', form_token: formToken, email: 'nobody' }, /id="email-error">Your email must be/],
    [{ action: 'pay', form_token: formToken, name: 'x'.repeat(201) }, /id="name-error">Your name must have/],
    [{ action: 'pay', form_token: formToken, name: '😀'.repeat(201) }, /id="name-error">Your name must have/],
  ]
  for (const [fields, words] of wrong) {
    const answer = await send(w, pathOf(link), fields)
    t.is(answer.status, 400)
    t.regex(answer.text, words)
  }
  t.is((await send(w, pathOf(link), { action: 'pay', form_token: formToken }, { 'sec-fetch-site': 'cross-site' })).status, 403)
  for (const path of [`/pay/${w.org.id}/${randomUUID()}`, `/pay/${w.org.id}/x`, `/pay/${randomUUID()}/${link.id}`]) {
    t.is((await w.visitor.get(path)).status, 404)
    t.is((await send(w, path, { action: 'pay', form_token: formToken })).status, 404)
  }
  t.is((await w.visitor.get(`/pay/${(await start()).w.org.id}/${link.id}`)).status, 404)
  await w.drain()
  t.is((await linkOf(w.org, link.id)).status, 'created')
})

test('sandbox: a cancelled or expired link cannot be paid', async (t) => {
  const { w, connectionId } = await start()
  const [cancelled, expired] = [await makeLink(w.org, connectionId), await makeLink(w.org, connectionId)]
  const formTokens = [await w.visitor.get(pathOf(cancelled)), await w.visitor.get(pathOf(expired))].map(({ text }) => formTokenIn(text))
  t.is((await w.org.owner.post(`${paymentsOf(w.org)}/links/${cancelled.id}/cancel`)).data.status, 'cancelled')
  await expireSandboxLink(w.db, expired.id)
  for (const [index, link] of [cancelled, expired].entries()) {
    t.regex((await send(w, pathOf(link), { action: 'pay', form_token: formTokens[index] ?? '' })).text, /This link has ended/)
    t.regex((await w.visitor.get(pathOf(link))).text, /This link has ended/)
  }
  await w.drain()
  t.deepEqual(await recordsOf(w.org), [])
})

test('sandbox: twenty concurrent payers pay a link once', async (t) => {
  const { w, connectionId } = await start()
  const link = await makeLink(w.org, connectionId)
  const formToken = formTokenIn((await w.visitor.get(pathOf(link))).text)
  const answers = await Promise.all(Array.from({ length: 20 }, () => send(w, pathOf(link), { action: 'pay', form_token: formToken })))
  t.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
  await w.drain()
  t.is((await recordsOf(w.org)).length, 1)
  t.is(await countSandboxPayments(w.db, w.org.id), 1)
})

test('sandbox: the sweep finds a payment whose webhook failed, once', async (t) => {
  const { w, connectionId } = await start()
  const link = await makeLink(w.org, connectionId)
  const formToken = formTokenIn((await w.visitor.get(pathOf(link))).text)
  const accept = await refuseWebhookEvents(w.db, connectionId)
  await send(w, pathOf(link), { action: 'pay', form_token: formToken })
  await w.drain()
  t.is((await linkOf(w.org, link.id)).status, 'created')
  await letDue(w, 6)
  t.is((await linkOf(w.org, link.id)).status, 'paid')
  t.deepEqual((await storyOf(w.org, link.id)).slice(1), ['sweep: paid (created > paid)'])
  await accept()
  await retryJobsNow(w.db, 'payments.sandbox-deliver')
  await w.drain()
  t.is((await recordsOf(w.org)).length, 1)
})
