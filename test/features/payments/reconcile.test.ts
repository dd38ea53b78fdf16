import { randomUUID } from 'node:crypto'
import test from 'ava'
import { connect, linkOf, makeLink, paymentsOf, recordsOf, storyOf } from '#test/features/payments/place.ts'
import { shareProviders } from '#test/features/payments/providers.ts'
import { removeCreator, setLinkCreation } from '#test/features/payments/rows.ts'
import { createMember } from '#test/support/factories.ts'
import { updateWorkspace } from '#test/support/rows.ts'

const newWorkspace = shareProviders(test)

const start = async () => {
  const w = await newWorkspace()
  const stripe = w.stripe.account()
  const connectionId = await connect(w.org, 'stripe', stripe.credentials)
  const tell = async (...events: (object | undefined)[]) => {
    for (const event of events) {
      const answer = await stripe.deliver(w.visitor, connectionId, event ?? {})
      if (answer.status !== 200) throw new Error(answer.text)
    }
    await w.drain()
  }
  const link = async (more: object = {}) => {
    const made = await makeLink(w.org, connectionId, more)
    const open = () =>
      stripe.open(stripe.things.links.find(({ metadata }) => (metadata as { kontor_link: string }).kontor_link === made.id)?.id ?? '')
    return { id: made.id as string, open }
  }
  const reconcile = async (query = '', client = w.org.owner) => {
    const { status, data, text } = await client.get(`${paymentsOf(w.org)}/reconcile${query}`)
    if (status !== 200) throw new Error(text)
    return data
  }
  const kinds = async () => (await reconcile()).breaks.map(({ kind, link_id }: Record<string, string>) => [kind, link_id])
  const repair = (linkId: string) => w.org.owner.post(`${paymentsOf(w.org)}/reconcile/repair`, { link_id: linkId })
  return { w, stripe, connectionId, tell, link, reconcile, kinds, repair }
}

test('reconcile: matching payments have no difference', async (t) => {
  const { stripe, tell, link, reconcile } = await start()
  t.deepEqual(await reconcile(), { ok: true, checked: 0, breaks: [] })
  await link()
  await tell(stripe.pay((await link()).open()).completed)
  t.deepEqual(await reconcile(), { ok: true, checked: 2, breaks: [] })
})

test('reconcile: a deleted payments record is reported as missing, and a repair creates only it', async (t) => {
  const { w, stripe, tell, link, kinds, repair } = await start()
  const { id, open } = await link()
  await tell(stripe.pay(open()).completed)
  const [record] = await recordsOf(w.org)
  t.deepEqual((await repair(id)).data, { repaired: 0 })
  t.is((await w.org.owner.delete(`${w.org.path}/records/payments/${record.id}`)).status, 204)
  t.deepEqual(await kinds(), [['paid_without_record', id]])
  const answers = await Promise.all(Array.from({ length: 20 }, () => repair(id)))
  t.is(
    answers.reduce((sum, { data }) => sum + data.repaired, 0),
    1,
  )
  t.deepEqual(await kinds(), [])
  const [made] = await recordsOf(w.org)
  t.deepEqual(made.values, record.values)
  t.is(made.created_by, null)
  t.like(await linkOf(w.org, id), { status: 'paid', payment_record_id: made.id })
  t.is((await storyOf(w.org, id)).at(-1), 'person: repaired (paid > paid)')
  for (const missing of [randomUUID(), 'x']) t.is((await repair(missing)).status, 404)
})

test('reconcile: a refund, a dispute and a record without a payment are records without money', async (t) => {
  const { w, stripe, tell, link, kinds } = await start()
  const [refunded, disputed, stray, manual] = [await link(), await link(), await link(), await link()]
  const [first, second] = [refunded.open(), disputed.open()]
  for (const session of [first, second]) await tell(stripe.pay(session).completed)
  await tell(stripe.refund(first, 1), stripe.dispute(second))
  const made = async (linkId: string) =>
    (await w.org.owner.post(`${w.org.path}/records/payments`, { values: { amount: 1, link_id: linkId } })).data.id
  await made(manual.id)
  await removeCreator(w.db, w.org.id, await made(stray.id))
  t.deepEqual(await kinds(), [
    ['record_without_money', refunded.id],
    ['record_without_money', disputed.id],
    ['record_without_money', stray.id],
  ])
})

test('reconcile: wrong amounts are found at the provider, in the record and in the ledger', async (t) => {
  const { w, stripe, tell, link, reconcile } = await start()
  const { owner, path } = w.org
  const [unfit, changed, posted, reversed] = [await link(), await link(), await link(), await link()]
  await tell(stripe.pay(unfit.open(), { amount: 5 }).completed)
  for (const one of [changed, posted, reversed]) await tell(stripe.pay(one.open()).completed)
  const recordOf = async ({ id }: { id: string }) => (await linkOf(w.org, id)).payment_record_id
  await owner.put(`${path}/records/payments/${await recordOf(changed)}/values`, { values: { amount: { amount: 100, code: 'EUR' } } })
  const account = async (code: string) => (await owner.post(`${path}/records/accounts`, { values: { code, name: code } })).data.id
  const [bank, sales] = [await account('1000'), await account('4000')]
  const post = async (recordId: string, amount: string) => {
    const lines = [
      { account_id: bank, debit: amount },
      { account_id: sales, credit: amount },
    ]
    const { status, data, text } = await owner.post(`${path}/accounting/entries`, { source_type: 'payment', source_id: recordId, lines })
    if (status !== 201) throw new Error(text)
    return data.id
  }
  await post(await recordOf(posted), '100')
  const wrong = await post(await recordOf(posted), '99')
  const undone = await post(await recordOf(reversed), '98')
  t.is((await owner.post(`${path}/accounting/entries/${undone}/reverse`, {})).status, 201)
  const { ok, checked, breaks } = await reconcile()
  t.false(ok)
  t.is(checked, 4)
  t.deepEqual(
    breaks.map(({ kind, link_id, payment_record_id, entry_id }: Record<string, string>) => [kind, link_id, payment_record_id, entry_id]),
    [
      ['amount_differs', unfit.id, null, null],
      ['amount_differs', changed.id, await recordOf(changed), null],
      ['amount_differs', posted.id, await recordOf(posted), wrong],
    ],
  )
  t.regex(breaks[0].detail, /is of 0\.05 USD, the link of 100\.00 USD/)
  const see = { effect: 'allow', actions: ['payments:read'] }
  const { client: blind } = await createMember(w, w.org, [see])
  const unseen = (await reconcile('', blind)).breaks
  t.deepEqual(
    unseen.map(({ payment_record_id, entry_id }: Record<string, string>) => [payment_record_id, entry_id]),
    Array(3).fill([null, null]),
  )
  t.notRegex(JSON.stringify(unseen), /EUR|99\.00/, 'no amount that is hidden stands in a detail')
  const { client: bookkeeper } = await createMember(w, w.org, [see, { effect: 'allow', actions: ['accounting:read'] }])
  t.is((await reconcile('', bookkeeper)).breaks[2].entry_id, wrong)
})

test('reconcile: two payments of a link, and one after its end, are reported', async (t) => {
  const { w, stripe, tell, link, kinds } = await start()
  const [twice, late] = [await link(), await link()]
  const sessions = [twice.open(), twice.open(), late.open()]
  await w.org.owner.post(`${paymentsOf(w.org)}/links/${late.id}/cancel`)
  for (const session of sessions) await tell(stripe.pay(session).completed)
  t.deepEqual(await kinds(), [
    ['two_payments_one_link', twice.id],
    ['paid_after_end', late.id],
  ])
})

test('reconcile: the period selects links by the day of their creation, in the workspace’s time zone', async (t) => {
  const { w, link, reconcile } = await start()
  const ids = [(await link()).id, (await link()).id, (await link()).id]
  const times = ['2026-03-31T14:59:59Z', '2026-03-31T15:00:00Z', '2026-04-01T15:00:00Z']
  for (const [index, id] of ids.entries()) await setLinkCreation(w.db, id, times[index] ?? '')
  await updateWorkspace(w.db, w.org.id, `timezone = 'Asia/Tokyo'`)
  const counts: [string, number][] = [
    ['', 3],
    ['?from=2026-04-01', 2],
    ['?to=2026-04-01', 2],
    ['?from=2026-04-01&to=2026-04-01', 1],
    ['?from=2026-04-02&to=2026-04-02', 1],
    ['?from=2026-04-03', 0],
  ]
  for (const [query, count] of counts) t.is((await reconcile(query)).checked, count, query)
  for (const query of ['from=2026-02-30', 'to=x', 'from=2026-04-01T00:00:00Z', 'from=2026-04-02&to=2026-04-01']) {
    t.is((await w.org.owner.get(`${paymentsOf(w.org)}/reconcile?${query}`)).status, 400, query)
  }
})
