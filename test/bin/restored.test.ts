import test from 'ava'
import { startApi } from '#api/server.ts'
import { createLogger } from '#shared/platform/kernel/log.ts'
import { queueMail } from '#shared/platform/mail/outbox.ts'
import { callKontor } from '#test/bin/call.ts'
import { ageRuns, deleteMark, restoreMark } from '#test/bin/rows.ts'
import { type Receiver, startReceiver } from '#test/features/flows/receiver.ts'
import { byHand, chain, createFlow, ended, runOf, start } from '#test/features/flows/support.ts'
import { connect as connectMail, made, read, sender } from '#test/features/messages/support.ts'
import { connect as connectProvider, linkOf, makeLink } from '#test/features/payments/place.ts'
import { type MailServer, startMailServer } from '#test/platform/mail/smtp.ts'
import { type Agent, startAgent } from '#test/support/agent.ts'
import { listening } from '#test/support/listening.ts'
import { runMaintenanceTask } from '#test/support/maintenance.ts'
import { retryJobsNow } from '#test/support/rows.ts'
import { scopeOf } from '#test/support/scope.ts'
import { shareInThread } from '#test/support/share-in-thread.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { sweepNow } from '#test/support/stored-files.ts'
import { type World, world } from '#test/support/world.ts'

interface Outside {
  readonly mail: MailServer
  readonly agent: Agent
  readonly receiver: Receiver
}

const outside = shareInThread(test, async () => {
  const ends: (() => unknown)[] = []
  const mail = await startMailServer({ teardown: (end) => ends.push(end) })
  const receiver = await startReceiver((_, response) => response.writeHead(401, { 'content-type': 'application/json' }).end('{}'))
  const value: Outside = { mail, receiver, agent: await startAgent() }
  return { value, close: () => Promise.all([receiver.close(), ...ends.map((end) => end())]) }
})

let ahead = 0
const now = () => new Date(Date.now() + ahead)
const shared = shareWorld(
  test,
  async () => {
    const { mail, agent, receiver } = await outside()
    return {
      ...(await listening()),
      LOG_LEVEL: 'silent',
      SMTP_URL: mail.url,
      EGRESS_ALLOW: `127.0.0.1:${mail.port},${receiver.host}`,
      STRIPE_API_URL: receiver.url,
      RAZORPAY_API_URL: receiver.url,
      AGENT_URL: agent.url,
    }
  },
  { now },
)

/** A world on a copy that calls nobody, and the servers outside, which nobody has called. */
async function restored(): Promise<World & Outside & { readonly goLive: () => Promise<void> }> {
  const [w, { mail, agent, receiver }] = [await shared(), await outside()]
  await w.drain()
  mail.reset()
  receiver.received.length = 0
  agent.asked.length = 0
  const hold = await callKontor(w, 'restored', '--yes')
  if (hold.code !== 0) throw new Error(hold.err)
  const goLive = async () => {
    const live = await callKontor(w, 'restored', '--live')
    if (live.code !== 0) throw new Error(live.err)
    ahead += 120_000
    await retryJobsNow(w.db)
    await w.drain()
  }
  return { ...w, mail, agent, receiver, goLive }
}

test('restored: the events of the copy are another list', async (t) => {
  const w = await shared()
  const { feed, next_after } = (await w.org.owner.get(`${w.org.path}/events`)).data
  t.is((await callKontor(w, 'restored', '--yes')).code, 0)
  const { status, body } = await w.org.owner.get(`${w.org.path}/events?after=${next_after}`)
  t.is(status, 400)
  t.regex(body.error.message, /of another list of events/)
  const after = (await w.org.owner.get(`${w.org.path}/events`)).data
  t.not(after.feed, feed)
  t.is((await callKontor(w, 'restored', '--live')).code, 0)
  t.is((await w.org.owner.get(`${w.org.path}/events?after=${after.next_after}`)).status, 200)
})

test('restored: the platform’s own mail waits until the copy is live', async (t) => {
  const w = await restored()
  await queueMail(await scopeOf(w, w.org), {
    workspaceId: w.org.id,
    kind: 'invitation',
    to: 'ann@example.com',
    subject: 'Hello',
    text: 'Hi',
  })
  await w.drain()
  t.is(w.mail.taken.length, 0)
  await w.goLive()
  t.deepEqual(w.mail.taken[0]?.to, ['ann@example.com'])
})

test('restored: a calendar’s invitation waits until the copy is live', async (t) => {
  const w = await restored()
  const mail = { workspaceId: w.org.id, kind: 'booking', to: 'guest@example.com', subject: 'Visit', text: 'See you' }
  const content = 'BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n'
  await queueMail(await scopeOf(w, w.org), { ...mail, calendar: { method: 'REQUEST', content } })
  await w.drain()
  t.is(w.mail.taken.length, 0)
  await w.goLive()
  t.deepEqual(w.mail.taken[0]?.to, ['guest@example.com'])
})

test('restored: a workspace’s mail by its own server waits until the copy is live', async (t) => {
  const w = await restored()
  const connection = await connectMail(w.org, w.mail.port)
  const send = await sender(t, w.org)
  const { message_id: id } = await send({ connection_id: connection.id, to: 'bob@example.com', subject: 'Order', body_text: 'Thanks' })
  await w.drain()
  t.is((await read(w.org, id)).status, 'queued')
  t.is(w.mail.taken.length, 0)
  await w.goLive()
  t.is((await read(w.org, id)).status, 'sent')
})

test('restored: the test of a mail connection says why it calls nobody', async (t) => {
  const w = await restored()
  const { id } = await connectMail(w.org, w.mail.port)
  const check = () => made(w.org.owner.post(`${w.org.path}/messages/connections/${id}/test`))
  t.regex((await check()).error, /restored copy/)
  await w.goLive()
  t.is((await check()).status, 'ok')
})

test('restored: a call of a flow waits, however often lost runs are looked for, until the copy is live', async (t) => {
  const w = await restored()
  const { id } = await createFlow(t, w.org, chain(byHand, ['h', 'action.http_request', { url: `${w.receiver.url}/paid` }]))
  const run = await start(t, w.org, id)
  for (let count = 0; count < 7; count++) {
    await w.drain()
    await ageRuns(w.db)
    await runMaintenanceTask(w, 'lost runs of flows')
  }
  t.is((await runOf(w.org, id, run)).finished_at, null)
  t.is(w.receiver.received.length, 0)
  await w.goLive()
  await ageRuns(w.db)
  await runMaintenanceTask(w, 'lost runs of flows')
  t.is((await ended(w.org, id, run)).status, 'ok')
  t.is(w.receiver.received.length, 1)
})

for (const [provider, credentials] of [
  ['stripe', { secret_key: 'sk_test_1', webhook_secret: 'whsec_1' }],
  ['razorpay', { key_id: 'rzp_test_1', key_secret: 'hush', webhook_secret: 'hush' }],
] as const)
  test(`restored: ${provider} is not called, and the caller gets 503, until the copy is live`, async (t) => {
    const w = await restored()
    const id = await connectProvider(w.org, provider, credentials)
    const check = () => w.org.owner.post(`${w.org.path}/payments/connections/${id}/test`)
    const refused = await check()
    t.is(refused.status, 503, refused.text)
    t.is(refused.body.error.code, 'UNAVAILABLE')
    t.is(w.receiver.received.length, 0)
    await w.goLive()
    t.is((await check()).status, 200)
    t.true(w.receiver.received.length > 0)
  })

test('restored: the sandbox’s webhook is not called until the copy is live', async (t) => {
  const w = await restored()
  const link = await makeLink(w.org, await connectProvider(w.org, 'sandbox'))
  const path = new URL(link.short_url).pathname
  const [, token = ''] = /name="form_token" value="([^"]+)"/.exec((await w.visitor.get(path)).text) ?? []
  const fields = new URLSearchParams({ form_token: token, name: 'Pia', email: 'pia@example.com', action: 'pay' })
  await w.visitor.post(path, fields.toString(), { 'content-type': 'application/x-www-form-urlencoded' })
  await w.drain()
  t.is((await linkOf(w.org, link.id)).status, 'created')
  await w.goLive()
  t.is((await linkOf(w.org, link.id)).status, 'paid')
})

test('restored: the assistant is not asked until the copy is live', async (t) => {
  const w = await restored()
  const ask = () => w.org.owner.post(`${w.org.path}/flows/generate`, { prompt: 'Thank everybody' })
  t.is((await ask()).status, 502)
  t.is(w.agent.asked.length, 0)
  await w.goLive()
  t.is((await ask()).status, 200)
})

test('restored: no bytes are deleted from the store, which may be the original’s, until the copy is live', async (t) => {
  const w = await restored()
  const { id } = await w.api.services.blobs.put(
    w.org.id,
    (async function* () {
      yield Buffer.from('bytes that no row holds')
    })(),
  )
  await sweepNow(w)
  t.notThrows(() => w.api.services.blobs.read(id).then((bytes) => bytes.destroy()))
  await w.goLive()
  await sweepNow(w)
  await t.throwsAsync(w.api.services.blobs.read(id))
})

test('restored: a database whose processes run is not marked by mistake', async (t) => {
  const w = await world({}, ['data'])
  t.teardown(w.close)
  const refused = await callKontor(w, 'restored')
  t.is(refused.code, 1)
  t.regex(refused.err, /Processes had a heartbeat on this database within the last 30 s: api \(.+:\d+\), worker data/)
  t.false(await w.api.services.egress.isHeld())
})

test('restored: a copy that was never marked cannot go live', async (t) => {
  const w = await world({}, [])
  t.teardown(w.close)
  const { code, err } = await callKontor(w, 'restored', '--live')
  t.is(code, 1)
  t.regex(err, /run bin\/kontor restored first/)
})

test('restored: with KONTOR_RESTORED=1 a process waits for the mark of this very copy', async (t) => {
  const w = await world({}, [])
  t.teardown(w.close)
  // The original had been restored itself, and went live.
  await callKontor(w, 'restored', '--yes')
  await callKontor(w, 'restored', '--live')
  await restoreMark(w.db)
  const log = createLogger('test', 'silent')
  const waiting = new Promise<string>((resolve) => {
    log.warn = ((...said: unknown[]) => resolve(String(said[0]))) as typeof log.warn
  })
  const starting = startApi({ ...w.config, port: 0, restored: true }, log)
  t.regex(await Promise.race([waiting, starting.then(() => 'started')]), /waiting until `bin\/kontor restored`/)
  t.is((await callKontor(w, 'restored', '--yes')).code, 0)
  const api = await starting
  t.true(await api.services.egress.isHeld())
  t.regex((await callKontor(w, 'status')).out, /RESTORED COPY: sends no mail/)
  await api.stop(1_000)
  // A restart of a marked copy does not wait, live or not.
  await callKontor(w, 'restored', '--live')
  t.notRegex((await callKontor(w, 'status')).out, /RESTORED COPY/)
  const again = await startApi({ ...w.config, port: 0, restored: true }, createLogger('test', 'silent'))
  t.false(await again.services.egress.isHeld())
  await again.stop(1_000)
  await deleteMark(w.db)
})
