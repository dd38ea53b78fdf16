import test from 'ava'
import { type Receiver, startReceiver } from '#test/features/flows/receiver.ts'
import { eventOf, makeOrders, makeWebhook, verify } from '#test/features/webhooks/receiving.ts'
import { endPreviousSecret } from '#test/features/webhooks/rows.ts'
import { shareWorld } from '#test/support/shared-world.ts'

let receiver: Receiver
const start = shareWorld(test, async () => {
  receiver = await startReceiver((_, response) => response.writeHead(204).end())
  return { EGRESS_ALLOW: receiver.host }
})
test.after.always(() => receiver?.close())

test('webhooks: each event that happens after its making is sent, signed, in the order of numbers', async (t) => {
  const w = await start()
  const orders = await makeOrders(w)
  const { owner, path } = w.org
  await owner.post(orders, { values: { title: 'before' } })
  await w.drain()
  const webhook = await makeWebhook(w, receiver)
  const { id } = (await owner.post(orders, { values: { title: 'one', total: 1 } })).data
  for (let total = 2; total < 12; total += 1) await owner.put(`${orders}/${id}/values`, { values: { total } })
  await owner.delete(`${orders}/${id}`)
  await w.drain()
  const sent = webhook.sent()
  const events = sent.map((one) => verify(one, webhook.secret)).toSorted((one, other) => one.seq - other.seq)
  t.is(events.length, 12)
  t.deepEqual([events[0]?.type, events.at(-1)?.type], ['records.created', 'records.deleted'])
  const listed = (await owner.get(`${path}/events?types=records.*`)).data.events.slice(-12)
  t.deepEqual(events, listed)
  for (const one of sent) t.is(one.headers['webhook-id'], `${eventOf(one).id}:${webhook.id}`)
  const read = (await owner.get(`${path}/webhooks/${webhook.id}`)).data
  t.like(read, { status: 'active', enabled: true, failing_since: null, next_attempt_at: null, maker_id: w.org.ownerId })
  t.truthy(read.last_delivery_at)
  t.is(read.secret, undefined)
  const deliveries = (await owner.get(`${path}/webhooks/${webhook.id}/deliveries?status=delivered`)).data
  t.deepEqual(
    deliveries.map(({ event_seq }: { event_seq: number }) => event_seq),
    listed.map(({ seq }: { seq: number }) => seq).toReversed(),
  )
  t.like(deliveries[0].attempts[0], { status: 204, error: null })
  const begun = deliveries.map(({ attempts }: { attempts: readonly [{ at: string }] }) => attempts[0].at).toReversed()
  t.deepEqual(begun, begun.toSorted())
})

test('webhooks: what is numbered while one is off is not sent', async (t) => {
  const w = await start()
  const orders = await makeOrders(w)
  const { owner, path } = w.org
  const webhook = await makeWebhook(w, receiver, { enabled: false })
  const one = `${path}/webhooks/${webhook.id}`
  t.like((await owner.get(one)).data, { status: 'disabled', enabled: false })
  await owner.post(orders, { values: { title: 'while off' } })
  await w.drain()
  for (const way of ['test', 'recover'])
    t.like((await owner.post(`${one}/${way}`, way === 'recover' ? { since_seq: 0 } : undefined)).body.error, { code: 'VALIDATION_ERROR' })
  t.like((await owner.patch(one, { enabled: true })).data, { status: 'active', enabled: true })
  await owner.post(orders, { values: { title: 'while on' } })
  await w.drain()
  await owner.patch(one, { enabled: false })
  await owner.post(orders, { values: { title: 'off again' } })
  await w.drain()
  t.deepEqual(
    webhook.sent().map((sent) => eventOf(sent).data.after?.title),
    ['while on'],
  )
  t.is((await owner.delete(one)).status, 204)
  t.is((await owner.get(one)).status, 404)
})

test('webhooks: types, a record type and a filter choose what is sent', async (t) => {
  const w = await start()
  const orders = await makeOrders(w)
  const { owner, path } = w.org
  await owner.post(`${path}/types`, { key: 'notes', label: 'Notes' })
  await owner.post(`${path}/fields`, { entity_type: 'notes', key: 'title', label: 'Title', type: 'string' })
  const large = { field: 'total', op: 'gte', value: '100' }
  const created = await makeWebhook(w, receiver, { types: ['records.created'] })
  const ofOrders = await makeWebhook(w, receiver, { object_type: 'orders' })
  const filtered = await makeWebhook(w, receiver, { object_type: 'orders', filter: large })
  const { id } = (await owner.post(orders, { values: { title: 'a', total: 5 } })).data
  await owner.post(`${path}/records/notes`, { values: { title: 'note' } })
  await owner.put(`${orders}/${id}/values`, { values: { total: 100 } })
  // An update that leaves the tested field alone: its event keeps the value.
  await owner.put(`${orders}/${id}/values`, { values: { title: 'b' } })
  await owner.put(`${orders}/${id}/values`, { values: { total: 5 } })
  await owner.put(`${orders}/${id}/values`, { values: { total: 200 } })
  await owner.delete(`${orders}/${id}`)
  await w.drain()
  const brief = (sent: ReturnType<typeof created.sent>) =>
    sent
      .map(eventOf)
      .toSorted((one, other) => one.seq - other.seq)
      .map(({ type, data }) => [type, data.after])
  t.deepEqual(brief(created.sent()), [
    ['records.created', { title: 'a', total: 5 }],
    ['records.created', { title: 'note' }],
  ])
  t.is(ofOrders.sent().length, 6)
  t.deepEqual(brief(filtered.sent()), [
    ['records.updated', { total: 100 }],
    ['records.updated', { title: 'b' }],
    ['records.updated', { total: 200 }],
    ['records.deleted', null],
  ])
})

test('webhooks: a rotated secret signs for a day beside the new one, and the two newest sign', async (t) => {
  const w = await start()
  const orders = await makeOrders(w)
  const { owner, path } = w.org
  const webhook = await makeWebhook(w, receiver)
  const rotate = async () => (await owner.post(`${path}/webhooks/${webhook.id}/rotate`)).data.secret as string
  const [second, third] = [await rotate(), await rotate()]
  await owner.post(orders, { values: { title: 'signed' } })
  await w.drain()
  const [sent] = webhook.sent()
  if (!sent) return t.fail('nothing was sent')
  for (const secret of [second, third]) t.is(verify(sent, secret).type, 'records.created')
  t.throws(() => verify(sent, webhook.secret))
  await endPreviousSecret(w.db, webhook.id)
  await owner.post(orders, { values: { title: 'signed by one' } })
  await w.drain()
  const last = webhook.sent()[1]
  if (!last) return t.fail('nothing was sent')
  t.is(verify(last, third).type, 'records.created')
  t.throws(() => verify(last, second))
  t.is(new Set([webhook.secret, second, third]).size, 3)
  for (const secret of [webhook.secret, second, third]) t.regex(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
})

test('webhooks: a test sends an example of the first type, which is in no list', async (t) => {
  const w = await start()
  const { owner, path } = w.org
  const webhook = await makeWebhook(w, receiver, { types: ['forms.*', 'records.created'] })
  const answer = await owner.post(`${path}/webhooks/${webhook.id}/test`)
  t.is(answer.status, 202)
  t.like(answer.data, { event_seq: null, status: 'waiting', attempts: [] })
  await w.drain()
  const [sent] = webhook.sent()
  t.is(sent && verify(sent, webhook.secret).type, 'forms.submitted')
  t.is((await owner.get(`${path}/webhooks/${webhook.id}/deliveries`)).data[0].status, 'delivered')
})

const wrong: readonly (readonly [string, object, RegExp])[] = [
  ['an address that is none', { url: 'erp.example.com' }, /^url must be an absolute http or https address$/],
  ['another protocol', { url: 'ftp://erp.example.com/' }, /^url must be/],
  ['a password in the address', { url: 'https://user:password@erp.example.com/' }, /^url must be/],
  ['no type', { types: [] }, /^types must/],
  ['an unknown type', { types: ['records.created', 'records.lost'] }, /^types: there is no type "records.lost"/],
  ['an unknown record type', { object_type: 'nothing' }, /^object_type must be the key of a record type/],
  ['a filter without a record type', { filter: { field: 'title', value: 'a' } }, /^filter needs object_type/],
  [
    'a filter of an unknown field',
    { object_type: 'orders', filter: { field: 'lost', value: 'a' } },
    /^filter.field must be a field of orders/,
  ],
  [
    'a filter along a reference',
    { object_type: 'orders', filter: { field: 'customer.name', value: 'a' } },
    /^filter.field must be a field of orders itself/,
  ],
  ['an account that is none', { service_account_id: 'me' }, /^service_account_id must be the id of a service account/],
  ['an unknown key', { object_typ: 'orders' }, /^object_typ is no key of a webhook.*did you mean object_type/i],
]
test('webhooks: what does not fit is refused by creation and by change, and names the key', async (t) => {
  const w = await start()
  await makeOrders(w)
  const { owner, path } = w.org
  const { id } = await makeWebhook(w, receiver)
  for (const [what, body, message] of wrong) {
    const full = { url: 'https://erp.example.com/', types: ['records.*'], ...body }
    for (const answer of [await owner.post(`${path}/webhooks`, full), await owner.patch(`${path}/webhooks/${id}`, body)]) {
      t.is(answer.status, 400, what)
      t.regex(answer.body.error.message, message, what)
    }
  }
})

test('webhooks: a workspace has 100 at most, also when 20 callers make them at once', async (t) => {
  const w = await start()
  const { owner, path } = w.org
  const make = () => owner.post(`${path}/webhooks`, { url: `${receiver.url}/`, types: ['records.*'], enabled: false })
  const lanes = await Promise.all(
    Array.from({ length: 20 }, async () => [await make(), await make(), await make(), await make(), await make(), await make()]),
  )
  const statuses = lanes.flat().map(({ status }) => status)
  t.is(statuses.filter((status) => status === 201).length, 100)
  t.is(statuses.filter((status) => status === 400).length, 20)
  t.is((await owner.get(`${path}/webhooks`)).data.length, 100)
})
