import test from 'ava'
import { lastSeq, readAll } from '#test/core/events/reading.ts'
import { connect, makeLink, paymentsOf } from '#test/features/payments/place.ts'
import { shareProviders } from '#test/features/payments/providers.ts'
import { expireLinks, letExpiryDue } from '#test/features/payments/rows.ts'
import { createMember } from '#test/support/factories.ts'

const newWorkspace = shareProviders(test)
const platform = { id: null, type: 'system' }

test('events: a link that is paid, cancelled or expires is an event for who reads payments', async (t) => {
  const w = await newWorkspace()
  const { org } = w
  const connectionId = await connect(org, 'sandbox')
  const [paid, cancelled] = [await makeLink(org, connectionId, { amount: '12.5' }), await makeLink(org, connectionId)]
  const after = await lastSeq(w)
  const page = new URL(paid.short_url).pathname
  const form_token = /name="form_token" value="([^"]+)"/.exec((await w.visitor.get(page)).text)?.[1] ?? ''
  const fields = { form_token, name: 'Planted Payer', email: 'planted@example.com', action: 'pay' }
  await w.visitor.post(page, new URLSearchParams(fields).toString(), { 'content-type': 'application/x-www-form-urlencoded' })
  await w.drain()
  t.is((await org.owner.post(`${paymentsOf(org)}/links/${cancelled.id}/cancel`)).status, 200)
  const expired = await makeLink(org, connectionId)
  await expireLinks(w.db, expired)
  await letExpiryDue(w.db, expired.id)
  await w.drain()
  const reader = await createMember(w, org, [{ effect: 'allow', actions: ['payments:read'] }])
  t.deepEqual(
    (await readAll(w, reader.client, after)).map(({ type, actor, cause, subject, data }) => ({ type, actor, cause, subject, data })),
    [
      {
        type: 'payments.link.paid',
        actor: platform,
        cause: { kind: 'payment', id: paid.id },
        subject: { id: paid.id },
        data: { amount: '12.50', currency: 'USD' },
      },
      {
        type: 'payments.link.cancelled',
        actor: { id: org.ownerId, type: 'user' },
        cause: { kind: 'request', id: null },
        subject: { id: cancelled.id },
        data: { amount: '100.00', currency: 'USD' },
      },
      {
        type: 'payments.link.expired',
        actor: platform,
        cause: { kind: 'system', id: null },
        subject: { id: expired.id },
        data: { amount: '100.00', currency: 'USD' },
      },
    ],
  )
  t.deepEqual(await readAll(w, (await createMember(w, org)).client, after), [])
})
