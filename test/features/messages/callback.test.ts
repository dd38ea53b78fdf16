import { createHmac } from 'node:crypto'
import test from 'ava'
import { connect, made, read, sender, shareOffice } from '#test/features/messages/support.ts'

const fresh = shareOffice(test)
const now = () => Math.floor(Date.now() / 1_000)

test('callback: a bounce marks its message, a complaint blocks its recipient; unsigned or old callbacks are refused', async (t) => {
  const w = await fresh()
  const connection = await connect(w.org, w.server.port)
  const other = await connect(w.org, w.server.port)
  const path = connection.webhook_url.replace(/^http:\/\/localhost:\d*/, '')
  t.is(path, `/webhooks/messages/${connection.id}`)
  const send = await sender(t, w.org)
  const message = { connection_id: connection.id, to: 'ann@example.com', subject: 'A', body_text: 'B' }
  const { message_id } = await send(message)
  await w.drain()
  const sign = (body: string, time: number | string, secret = connection.webhook_secret) =>
    createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')
  const post = (body: string, signature: string, to = path) =>
    w.visitor.send('POST', to, body, { 'content-type': 'application/json', 'x-kontor-signature': signature })
  const signed = (report: object, time: number = now()) => {
    const body = JSON.stringify(report)
    return post(body, `t=${time},v1=${sign(body, time)}`)
  }

  const bounce = { event: 'bounce', message_id }
  const body = JSON.stringify(bounce)
  const time = now()
  const refused = [
    '',
    `t=${time}`,
    `v1=${sign(body, '')}`,
    `t=${time},v1=${sign(body, time, other.webhook_secret)}`,
    `t=${time},v1=${sign(`${body} `, time)}`,
    `t=${time},v1=${sign(body, time).slice(1)}`,
    `t=${time + 1},v1=${sign(body, time)}`,
    `t=${time - 310},v1=${sign(body, time - 310)}`,
    `t=${time + 310},v1=${sign(body, time + 310)}`,
    `t=${time}.0,v1=${sign(body, `${time}.0`)}`,
    `t=abc,v1=${sign(body, 'abc')}`,
  ]
  for (const signature of refused) t.is((await post(body, signature)).status, 400, signature)
  t.is((await post(body, `t=${time},v1=${sign(body, time)}`, other.webhook_url.replace(/^http:\/\/localhost:\d*/, ''))).status, 400)
  t.is((await post(body, `t=${time},v1=${sign(body, time)}`, '/webhooks/messages/01999999-9999-7999-8999-999999999999')).status, 404)
  t.is((await post(body, `t=${time},v1=${sign(body, time)}`, '/webhooks/messages/x')).status, 404)
  t.is((await read(w.org, message_id)).status, 'sent')

  t.is((await signed(bounce, now() - 290)).status, 200)
  t.like(await read(w.org, message_id), { status: 'bounced' })
  t.is((await signed({ event: 'bounce', message_id: `<${message_id}@localhost>` })).status, 200)
  const list = `${w.org.path}/messages/do-not-contact`
  t.deepEqual(await made(w.org.owner.get(list)), [], 'a bounce is no complaint')
  t.is((await post(body, `t=${time},v1=${'0'.repeat(64)},v1=${sign(body, time)}`)).status, 200, 'one of several signatures fits')

  t.is((await signed({ event: 'complaint', message_id })).status, 200)
  t.is((await signed({ event: 'complaint', message_id })).status, 200)
  t.like((await made(w.org.owner.get(list)))[0], { address: 'ann@example.com', reason: 'complaint', message_id })
  t.is((await send(message)).skipped, true)

  const foreign = await send({ ...message, connection_id: other.id, to: 'bea@example.com' })
  await w.drain()
  for (const nothing of [
    {},
    { event: 'opened', message_id },
    { event: 'bounce', message_id: 'x' },
    { event: 'complaint', message_id: foreign.message_id },
  ])
    t.is((await signed(nothing)).status, 200)
  t.is((await read(w.org, foreign.message_id)).status, 'sent')
  t.is((await made(w.org.owner.get(list))).length, 1)
  const noJson = 'not json'
  t.is((await post(noJson, `t=${time},v1=${sign(noJson, time)}`)).status, 200)

  t.is((await w.org.owner.delete(`${w.org.path}/messages/connections/${connection.id}`)).status, 204)
  t.is((await signed(bounce)).status, 404)
})
