import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import test from 'ava'
import { startApi } from '#api/server.ts'
import { guestTokens } from '#shared/features/calendar/guests/store.ts'
import { workerPools } from '#shared/platform/jobs/job.ts'
import type { Config } from '#shared/platform/kernel/config.ts'
import { keyName, type SecretKeys } from '#shared/platform/kernel/crypto/secret-keys.ts'
import { createLogger } from '#shared/platform/kernel/log.ts'
import { callWith } from '#test/bin/call.ts'
import { makeCalendar, makeEvent } from '#test/features/calendar/support.ts'
import { type Receiver, startReceiver } from '#test/features/flows/receiver.ts'
import { createFunction, handlerOf } from '#test/features/functions/support.ts'
import { connect as connectMail, made, sender } from '#test/features/messages/support.ts'
import { connect as connectPayments } from '#test/features/payments/place.ts'
import { makeWebhook, verify } from '#test/features/webhooks/receiving.ts'
import { startMailServer } from '#test/platform/mail/smtp.ts'
import { addGuests, keyStates, readSealed } from '#test/platform/secrets/rows.ts'
import { Client } from '#test/support/client.ts'
import { eventually } from '#test/support/eventually.ts'
import { lockRows } from '#test/support/locks.ts'
import { startLauncher } from '#test/support/process.ts'
import { type World, world } from '#test/support/world.ts'
import { startWorker } from '#workers/worker.ts'

const hex = (key: Buffer | null) => key?.toString('hex') ?? ''
const variables = ({ databaseUrl, dataDir, secretKey, otherSecretKey }: Pick<Config, 'databaseUrl' | 'dataDir'> & SecretKeys) => ({
  DATABASE_URL: databaseUrl,
  DATA_DIR: dataDir,
  SECRET_KEY: hex(secretKey),
  SECRET_KEY_OTHER: hex(otherSecretKey),
})

/** One thing of each kind that the key protects, and what a caller sees of it. */
async function protectThings(
  t: Parameters<typeof makeCalendar>[0],
  w: World,
  server: Awaited<ReturnType<typeof startMailServer>>,
  receiver: Receiver,
) {
  const { org } = w
  await org.owner.put(`${org.path}/functions/secrets/PIN`, { value: 'first' })
  const { id: reader } = await createFunction(t, org, handlerOf(`return (await sdk.secrets.get('PIN')).split('').join(' ')`))
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 1_024 })
  const dkim = { domain: 'example.com', selector: 's', private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }) }
  const connection = await connectMail(org, server.port, { dkim })
  await connectMail(org, server.port, { username: 'ann', password: 'planted' })
  const payments = await connectPayments(org, 'stripe', { secret_key: 'sk_test_planted', webhook_secret: 'whsec_planted' })
  const calendar = await makeCalendar(t, w)
  const { feed_url } = await made(org.owner.post(`${org.path}/calendar/calendars/${calendar.id}/feed`, { enabled: true }))
  const event = await makeEvent(t, w, { calendar_id: calendar.id, attendees: [{ email: 'guest@example.com' }] })
  await addGuests(w.db, event.id, (id) => guestTokens.seal(w.config, { id }, 'a secret'), 450)
  const send = await sender(t, org)
  const { message_id } = await send({ connection_id: connection.id, to: 'bea@example.com', subject: 'News', body_text: 'New' })
  await w.drain()
  const raw = server.taken.find(({ mail }) => mail.messageId?.includes(message_id))?.raw ?? ''
  const [, link = ''] = /^List-Unsubscribe:\s+<http:\/\/localhost:\d*(\/unsubscribe\/[\w-]{64})>/m.exec(raw) ?? []
  const webhook = await makeWebhook(w, receiver, { types: ['forms.submitted'] })
  const { secret } = (await org.owner.post(`${org.path}/webhooks/${webhook.id}/rotate`)).data
  const body = { key: 'kept', label: 'Kept' }
  const first = await org.owner.post(`${org.path}/types`, body, { 'Idempotency-Key': 'type' })
  t.is(first.status, 201)

  /** Uses each of them by another process. */
  return async (owner: Client, visitor: Client) => {
    const run = await owner.post(`${org.path}/functions/${reader}/invoke`, { input: null })
    t.is(run.data.result, 'f i r s t', run.text)
    t.is((await owner.patch(`${org.path}/payments/connections/${payments}`, { credentials: { webhook_secret: 'whsec_next' } })).status, 200)
    t.is((await owner.post(`${org.path}/messages/connections/${connection.id}/test`)).data.status, 'ok')
    t.is((await owner.get(`${org.path}/calendar/calendars/${calendar.id}`)).data.feed_url, feed_url)
    t.deepEqual((await owner.post(`${org.path}/types`, body, { 'Idempotency-Key': 'type' })).data, first.data)
    t.is((await visitor.get(link)).status, 200)
    const sent = webhook.sent().length
    t.is((await owner.post(`${org.path}/webhooks/${webhook.id}/test`)).status, 202)
    const last = await eventually(() => webhook.sent()[sent])
    for (const one of [webhook.secret, secret]) t.is(verify(last, one).type, 'forms.submitted')
  }
}

test('rotation: everything is sealed anew under load, also by a command that was killed, and opens without the old key', async (t) => {
  const [oldKey, newKey] = [randomBytes(32), randomBytes(32)]
  const server = await startMailServer(t)
  const receiver = await startReceiver((_, response) => response.writeHead(204).end())
  t.teardown(receiver.close)
  const w = await world({
    SECRET_KEY: hex(oldKey),
    SECRET_KEY_OTHER: hex(newKey),
    EGRESS_ALLOW: `127.0.0.1:${server.port},${receiver.host}`,
    LOG_LEVEL: 'silent',
  })
  t.teardown(w.close)
  const check = await protectThings(t, w, server, receiver)
  const log = createLogger('test', 'silent')
  const start = async (keys: SecretKeys) => {
    const config = { ...w.config, ...keys }
    const [api, worker] = [await startApi(config, log), await startWorker(config, workerPools, log)]
    const visitor = new Client(`http://127.0.0.1:${api.port}`, null)
    const stop = () => Promise.all([api.stop(5_000), worker.stop(5_000)])
    t.teardown(stop)
    return { config, visitor, owner: visitor.as(w.org.owner.token), stop, pick: api }
  }
  const refused = (keys: SecretKeys, message: RegExp) => t.throwsAsync(startApi({ ...w.config, ...keys }, log), { message })
  await refused({ secretKey: newKey, otherSecretKey: null }, /^SECRET_KEY is not the key of this installation: /)

  // The swap: processes with the keys of before run beside those with the new ones.
  const swapped = { secretKey: newKey, otherSecretKey: oldKey }
  const second = await start(swapped)
  await check(second.owner, second.visitor)
  const rotate = () => callWith(variables(second.config), 'secret', 'rotate')
  const early = await rotate()
  t.is(early.code, 2, early.err)
  t.regex(
    early.err,
    new RegExp(
      `^Processes still seal under another key, give them this one or stop them: kontor api ${keyName(oldKey)} at .*kontor worker`,
    ),
  )
  const unswapped = await callWith(variables(w.config), 'secret', 'rotate')
  t.regex(unswapped.err, /^SECRET_KEY is still the old key: /)
  await w.api.stop(1_000)
  await w.worker.stop(1_000)

  // Callers go on while the command is killed at the connections of mail: what comes before is sealed anew.
  let isLoading = true
  const load = (async () => {
    for (let number = 0; isLoading; number++) {
      const name = `LOAD_${number % 7}`
      t.is((await second.owner.put(`${w.org.path}/functions/secrets/${name}`, { value: `value ${number}` })).status, 200)
      await made(second.owner.put(`${w.org.path}/functions/secrets/PIN`, { value: 'first' }))
    }
  })()
  const held = await lockRows(t, w.db, 'message_connections', 'password is not null')
  const killed = await startLauncher(t, w, ['secret', 'rotate'], variables(second.config))
  await held.waitedFor()
  killed.kill('SIGKILL')
  await once(killed, 'exit')
  await held.release()
  t.deepEqual(await keyStates(w.db), ['current', 'next'])
  await refused({ secretKey: oldKey, otherSecretKey: newKey }, /^SECRET_KEY is being replaced by a rotation: /)
  await refused({ secretKey: newKey, otherSecretKey: null }, /^SECRET_KEY_OTHER must be the old key until /)
  const before = await readSealed({ api: second.pick }, swapped)
  t.true(before.unreadable.some((one) => one.startsWith('calendar_attendees.token_sealed')))
  t.false(before.unreadable.some((one) => one.startsWith('idempotency_records.answer')))

  await eventually(async () => (await second.owner.get(`${w.org.path}/functions/secrets`)).data.length === 8)
  const ended = await rotate()
  t.is(ended.code, 0, ended.err)
  t.regex(ended.out, /Sealed anew: 451 of calendar_attendees\.token_sealed\n[\s\S]*The rotation has ended/)
  isLoading = false
  await load
  t.deepEqual(await keyStates(w.db), ['retired', 'current'])
  await check(second.owner, second.visitor)
  const again = await callWith(variables(second.config), 'secret', 'rotate', '--json')
  t.true(
    Object.values(again.json.sealed).every((count) => count === 0),
    again.out,
  )

  // Without the old key, in other processes.
  await refused({ secretKey: oldKey, otherSecretKey: newKey }, /^SECRET_KEY was replaced by a rotation that ended at /)
  await second.stop()
  const alone = { secretKey: newKey, otherSecretKey: null }
  const third = await start(alone)
  await check(third.owner, third.visitor)
  const { opened, unreadable } = await readSealed({ api: third.pick }, alone)
  t.deepEqual(unreadable, [])
  for (const [name, count] of Object.entries(opened)) t.true(count > 0, `${name} has no value in this test`)
  await w.drain()
})
