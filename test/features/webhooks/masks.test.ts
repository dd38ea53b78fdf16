import test from 'ava'
import { type Receiver, startReceiver } from '#test/features/flows/receiver.ts'
import { eventOf, makeOrders, makeWebhook } from '#test/features/webhooks/receiving.ts'
import { takeRoles } from '#test/features/webhooks/rows.ts'
import { createMember, createService } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'

let receiver: Receiver
const start = shareWorld(test, async () => {
  receiver = await startReceiver((_, response) => response.writeHead(204).end())
  return { EGRESS_ALLOW: receiver.host }
})
test.after.always(() => receiver?.close())

const manage = { effect: 'allow', actions: ['webhooks:manage'], resources: ['*'] }
const read = (more: object = {}) => ({ effect: 'allow', actions: ['records:read'], resources: ['orders'], ...more })

test('masks: what is sent is what its account may read, else its maker', async (t) => {
  const w = await start()
  const orders = await makeOrders(w)
  const { owner } = w.org
  const condition = { 'resource.total': { gte: 10 } }
  const robot = await createService(w, w.org, [read({ condition, fields: { deny: ['secret'] } })])
  const member = await createMember(w, w.org, [manage, read({ fields: { deny: ['secret'] } })])
  const none = await createMember(w, w.org, [manage])
  const ofRobot = await makeWebhook(w, receiver, { service_account_id: robot.id })
  const ofMember = await makeWebhook(w, receiver, {}, member.client)
  const ofNone = await makeWebhook(w, receiver, { types: ['records.*', 'members.*', 'roles.*', 'forms.*'] }, none.client)
  const { id } = (await owner.post(orders, { values: { title: 'small', total: 1, secret: 'planted' } })).data
  await owner.put(`${orders}/${id}/values`, { values: { secret: 'planted again' } })
  await owner.put(`${orders}/${id}/values`, { values: { total: 20 } })
  await owner.put(`${orders}/${id}/values`, { values: { total: 2 } })
  await w.drain()
  const brief = ({ sent }: typeof ofRobot) =>
    sent()
      .map(eventOf)
      .toSorted((one, other) => one.seq - other.seq)
      .map(({ data }) => [data.view, data.after])
  t.deepEqual(brief(ofRobot), [
    ['entered', { total: 20 }],
    ['left', null],
  ])
  t.deepEqual(brief(ofMember), [
    ['entered', { title: 'small', total: 1 }],
    ['changed', { total: 20 }],
    ['changed', { total: 2 }],
  ])
  t.deepEqual(ofNone.sent(), [])
  t.deepEqual((await owner.get(`${w.org.path}/webhooks/${ofNone.id}/deliveries`)).data, [])
  for (const { body } of [...ofRobot.sent(), ...ofMember.sent()]) t.notRegex(body, /planted/)
})

test('masks: a filter names only what its maker could filter by, and sees only what the account sees', async (t) => {
  const w = await start()
  const orders = await makeOrders(w)
  const { owner, path } = w.org
  const member = await createMember(w, w.org, [manage, read({ fields: { deny: ['secret'] } })])
  const blind = await createMember(w, w.org, [manage])
  const by = (field: string, value: string) => ({ object_type: 'orders', filter: { field, op: 'eq', value } })
  const body = { url: `${receiver.url}/`, types: ['records.*'] }
  t.like((await member.client.post(`${path}/webhooks`, { ...body, ...by('secret', 'planted') })).body.error, { code: 'VALIDATION_ERROR' })
  t.like((await blind.client.post(`${path}/webhooks`, { ...body, ...by('title', 'a') })).body.error, { code: 'FORBIDDEN' })
  const robot = await createService(w, w.org, [read({ fields: { deny: ['secret'] } })])
  const bySecret = await makeWebhook(w, receiver, { ...by('secret', 'planted'), service_account_id: robot.id })
  const not = await makeWebhook(w, receiver, {
    object_type: 'orders',
    filter: { not: { field: 'secret', op: 'eq', value: 'other' } },
    service_account_id: robot.id,
  })
  const left = await makeWebhook(w, receiver, {
    ...by('total', '1'),
    service_account_id: (await createService(w, w.org, [read({ condition: { 'resource.title': { eq: 'seen' } } })])).id,
  })
  const { id } = (await owner.post(orders, { values: { title: 'seen', total: 1, secret: 'planted' } })).data
  await owner.put(`${orders}/${id}/values`, { values: { title: 'hidden' } })
  await w.drain()
  t.deepEqual([bySecret.sent().length, not.sent().length], [0, 0])
  t.deepEqual(
    left.sent().map((sent) => eventOf(sent).data.view),
    ['entered'],
  )
})

test('masks: the maker must hold what the account holds, and who changes it becomes the maker', async (t) => {
  const w = await start()
  await makeOrders(w)
  const { owner, path } = w.org
  const member = await createMember(w, w.org, [manage, read({ fields: { deny: ['secret'] } })])
  const wide = await createService(w, w.org, [read()])
  const narrow = await createService(w, w.org, [read({ fields: { deny: ['secret'] } })])
  const body = { url: `${receiver.url}/`, types: ['records.*'] }
  const refused = await member.client.post(`${path}/webhooks`, { ...body, service_account_id: wide.id })
  t.like(refused.body.error, { code: 'FORBIDDEN' })
  t.regex(refused.body.error.message, /^service_account_id: /)
  t.notRegex(refused.body.error.message, /policy|orders|records:read/)
  t.is((await member.client.post(`${path}/webhooks`, { ...body, service_account_id: narrow.id })).status, 201)
  const { id } = await makeWebhook(w, receiver, { service_account_id: wide.id })
  const one = `${path}/webhooks/${id}`
  const before = (await owner.get(one)).data
  t.is((await member.client.patch(one, { url: 'https://elsewhere.example.com/' })).status, 403)
  t.is((await member.client.patch(one, { description: 'theirs', enabled: false })).data.maker_id, w.org.ownerId)
  t.is((await member.client.patch(one, { ...before, enabled: true, description: '' })).data.maker_id, w.org.ownerId)
  const taken = await member.client.patch(one, { service_account_id: null })
  t.like(taken.data, { maker_id: member.id, service_account_id: null })
})

test('masks: rights that are lost hold for what is sent again', async (t) => {
  const w = await start()
  const orders = await makeOrders(w)
  const { owner, path } = w.org
  const robot = await createService(w, w.org, [read()])
  const webhook = await makeWebhook(w, receiver, { service_account_id: robot.id })
  await owner.post(orders, { values: { title: 'planted' } })
  await w.drain()
  t.is(webhook.sent().length, 1)
  await takeRoles(w.db, robot.id)
  const [delivery] = (await owner.get(`${path}/webhooks/${webhook.id}/deliveries`)).data
  const resend = `${path}/webhooks/${webhook.id}/deliveries/${delivery.id}/resend`
  t.is((await owner.post(resend)).status, 202)
  await w.drain()
  t.is(webhook.sent().length, 1)
  const [after] = (await owner.get(`${path}/webhooks/${webhook.id}/deliveries`)).data
  t.is(after.status, 'failed')
  t.regex(after.attempts[1].error, /may not see the event/)
  t.is((await owner.get(`${path}/webhooks/${webhook.id}`)).data.status, 'active')
})

test('masks: a webhook is off once its account or its maker is gone', async (t) => {
  const w = await start()
  const orders = await makeOrders(w)
  const { owner, path } = w.org
  const robot = await createService(w, w.org, [read()])
  const member = await createMember(w, w.org, [manage, read()])
  const ofRobot = await makeWebhook(w, receiver, { service_account_id: robot.id })
  const ofMember = await makeWebhook(w, receiver, {}, member.client)
  await owner.delete(`${path}/service-accounts/${robot.id}`)
  await owner.delete(`${path}/members/${member.id}`)
  await owner.post(orders, { values: { title: 'later' } })
  await w.drain()
  for (const { id, sent } of [ofRobot, ofMember]) {
    t.like((await owner.get(`${path}/webhooks/${id}`)).data, { status: 'disabled', enabled: false, next_attempt_at: null })
    t.is(sent().length, 0)
  }
  t.regex((await owner.patch(`${path}/webhooks/${ofRobot.id}`, { enabled: true })).body.error.message, /^service_account_id must be/)
  t.like((await owner.patch(`${path}/webhooks/${ofMember.id}`, { enabled: true })).data, { status: 'active', maker_id: w.org.ownerId })
})

test('masks: a maker that is removed while it makes or enables webhooks leaves none that is on', async (t) => {
  const w = await start()
  const { owner, path } = w.org
  const body = { url: `${receiver.url}/`, types: ['payments.*'] }
  for (let round = 0; round < 8; round++) {
    const robot = await createService(w, w.org, [manage])
    const { id } = await makeWebhook(w, receiver, { ...body, enabled: false }, robot.client)
    const makings = Array.from({ length: 6 }, () => robot.client.post(`${path}/webhooks`, body))
    const enabling = owner.patch(`${path}/webhooks/${id}`, { enabled: true })
    const removal = owner.delete(`${path}/service-accounts/${robot.id}`)
    await Promise.all([...makings, enabling, removal])
    const webhooks: { id: string; maker_id: string; status: string }[] = (await owner.get(`${path}/webhooks`)).data
    const left = webhooks.filter(({ maker_id }) => maker_id === robot.id)
    t.deepEqual(
      [...new Set(left.map(({ status }) => status))].filter((status) => status !== 'disabled'),
      [],
    )
    for (const one of webhooks) await owner.delete(`${path}/webhooks/${one.id}`)
  }
})
