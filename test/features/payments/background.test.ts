import test from 'ava'
import { letDue } from '#test/features/payments/due.ts'
import { connect, linkOf, makeLink, paymentsOf, recordsOf } from '#test/features/payments/place.ts'
import { shareProviders } from '#test/features/payments/providers.ts'
import { expireLinks, readLinkStatuses } from '#test/features/payments/rows.ts'
import { updateWorkspace } from '#test/support/rows.ts'

const newWorkspace = shareProviders(test)

for (const [closed, set, reset] of [
  ['suspended', `status = 'suspended'`, `status = 'active'`],
  ['without its app', `apps = apps || '{"payments": false}'`, `apps = apps || '{"payments": true}'`],
] as const) {
  test(`background: payments are recorded in a workspace that is ${closed}, and due work waits`, async (t) => {
    const w = await newWorkspace()
    const stripe = w.stripe.account()
    const connectionId = await connect(w.org, 'stripe', stripe.credentials)
    const [notified, swept, due] = [
      await makeLink(w.org, connectionId),
      await makeLink(w.org, connectionId),
      await makeLink(w.org, connectionId),
    ]
    const theirs = (id: string) =>
      stripe.things.links.find(({ metadata }) => (metadata as { kontor_link: string }).kontor_link === id)?.id ?? ''
    await updateWorkspace(w.db, w.org.id, set)
    t.not((await w.org.owner.get(`${paymentsOf(w.org)}/links`)).status, 200)
    t.is((await stripe.deliver(w.visitor, connectionId, stripe.pay(stripe.open(theirs(notified.id))).completed)).status, 200)
    stripe.pay(stripe.open(theirs(swept.id)))
    await expireLinks(w.db, due)
    await letDue(w, 60 * 24 * 40)
    t.deepEqual(await readLinkStatuses(w.db, w.org.id), {
      [notified.id]: 'paid',
      [swept.id]: 'paid',
      [due.id]: 'created',
    })
    await updateWorkspace(w.db, w.org.id, reset)
    await w.drain()
    t.is((await recordsOf(w.org)).length, 2)
    t.is((await linkOf(w.org, due.id)).status, 'expired', 'what was due is made good afterwards')
  })
}
