import { createHmac, randomUUID } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import { completeMail } from '#shared/platform/mail/store.ts'
import { lastSeq, readAll, type Seen } from '#test/core/events/reading.ts'
import { byHand, chain, createFlow, ended, start } from '#test/features/flows/support.ts'
import { type CuttingServer, startCuttingServer } from '#test/features/messages/cutting-server.ts'
import { addDoNotContact, ageMessages, markSending } from '#test/features/messages/rows.ts'
import { connect, read, type Send, sender } from '#test/features/messages/support.ts'
import { operatorOf } from '#test/platform/jobs/operator/support.ts'
import { postponeRetries } from '#test/platform/jobs/rows.ts'
import type { Client } from '#test/support/client.ts'
import { createMember } from '#test/support/factories.ts'
import { runMaintenanceTask } from '#test/support/maintenance.ts'
import { retryJobsNow } from '#test/support/rows.ts'
import { type World, world } from '#test/support/world.ts'

let clock = Date.now()

interface Site extends World {
  readonly server: CuttingServer
  readonly connection: { readonly id: string; readonly webhook_url: string; readonly webhook_secret: string }
  readonly sendOne: Send
  /** Sends a message with planted words, and waits until it needs to wait. */
  readonly send: (more?: object) => Promise<string>
  /** Moves the time, and waits until all due work is done. */
  readonly pass: (minutes: number) => Promise<void>
}

const ends: (() => unknown)[] = []
test.after.always(async () => {
  for (const end of ends.reverse()) await end()
})

const words = { subject: 'planted subject', body_text: 'planted text' }

/** One world for the file: its tests share a server that breaks off, so they run one after the other. */
let shared: Promise<Site> | undefined
const begin = (t: ExecutionContext): Promise<Site> => {
  shared ??= open(t)
  return shared
}

async function open(t: ExecutionContext): Promise<Site> {
  const server = await startCuttingServer({ teardown: (end) => ends.push(end) })
  const w = await world({ EGRESS_ALLOW: `127.0.0.1:${server.port}`, LOG_LEVEL: 'silent' }, undefined, () => new Date(clock))
  ends.push(w.close)
  const connection = await connect(w.org, server.port)
  const sendOne = await sender(t, w.org)
  const send = async (more: object = {}) => {
    const { message_id } = await sendOne({ connection_id: connection.id, to: `planted-${randomUUID()}@example.com`, ...words, ...more })
    await w.drain()
    return message_id
  }
  const pass = async (minutes: number) => {
    clock += minutes * 60_000
    await retryJobsNow(w.db, 'mail.send')
    w.worker.pools.pollAll()
    await w.drain()
  }
  return { ...w, server, connection, sendOne, send, pass }
}

/** The outcomes that a caller, by default the owner, sees after a position. */
const outcomes = async (w: World, after: number, client: Client = w.org.owner): Promise<Seen[]> =>
  (await readAll(w, client, after)).filter(({ type }) => type.startsWith('messages.'))

/** The outcomes of a message. */
const outcomesOf = async (w: World, after: number, id: string): Promise<string[]> =>
  (await outcomes(w, after)).filter(({ subject }) => subject.id === id).map(({ type }) => type.slice('messages.'.length))

test('outcome events: a message that is sent is told once, of the run that sent it, without its words', async (t) => {
  const w = await begin(t)
  const { org, server, connection, send } = w
  server.cutAt('never')
  const record = (await org.owner.post(`${org.path}/records/locations`, { values: { name: 'Berlin' } })).data
  const after = await lastSeq(w)
  const id = await send({ record_type: 'locations', record_id: record.id })
  const [sent, ...more] = await outcomes(w, after)
  t.deepEqual(more, [])
  const { id: functionId } = (await org.owner.get(`${org.path}/functions`)).data.find(({ name }: { name: string }) => name === 'Send')
  const [run] = (await org.owner.get(`${org.path}/functions/${functionId}/runs`)).data.runs
  t.like(sent, {
    type: 'messages.sent',
    actor: { id: org.ownerId, type: 'user' },
    cause: { kind: 'function', id: run.id },
    subject: { id },
    data: { connection_id: connection.id, template_id: null, record_type: 'locations', record_id: record.id },
  })
  t.deepEqual(Object.keys(sent?.data).sort(), ['connection_id', 'record_id', 'record_type', 'template_id'])
  t.notRegex(JSON.stringify(sent), /planted/)
})

test('outcome events: a flow is the cause of its messages, also when they are sent by a second attempt', async (t) => {
  const w = await begin(t)
  const { org, server, connection, pass, drain } = w
  server.cutAt('after the dot')
  const after = await lastSeq(w)
  const mail = { connection_id: connection.id, to: 'planted@example.com', ...words }
  const flow = await createFlow(t, org, { enabled: true, ...chain(byHand, ['m', 'action.send_message', mail]) })
  const runId = await start(t, org, flow.id)
  await ended(org, flow.id, runId)
  await drain()
  t.deepEqual(await outcomes(w, after), [], 'uncertain is no outcome')
  server.cutAt('never')
  await pass(16)
  t.deepEqual(
    (await outcomes(w, after)).map(({ type, cause }) => [type, cause]),
    [['messages.sent', { kind: 'flow', id: runId }]],
  )
})

test('outcome events: attempts that are repeated tell one outcome', async (t) => {
  const w = await begin(t)
  const { server, send, pass, db, org } = w
  const after = await lastSeq(w)
  server.cutAt('RCPT', '451 4.7.1 planted delay')
  const [later, another] = [await send(), await send()]
  t.deepEqual(await outcomes(w, after), [])
  for (let attempt = 2; attempt < 10; attempt++) await pass(60)
  t.is((await read(org, later)).status, 'queued')
  server.cutAt('never')
  await pass(60)
  t.deepEqual(await outcomesOf(w, after, later), ['sent'])
  t.deepEqual(await outcomesOf(w, after, another), ['sent'])
  server.cutAt('RCPT', '451 4.7.1 planted delay')
  const vain = await send()
  for (let attempt = 2; attempt <= 12; attempt++) await pass(60)
  t.like(await read(org, vain), { status: 'failed', attempts: 10 })
  t.deepEqual(await outcomesOf(w, after, vain), ['failed'])
  server.cutAt('greeting')
  const dead = await send()
  await markSending(db, dead)
  server.cutAt('never')
  await pass(1)
  t.is((await read(org, dead)).status, 'uncertain')
  t.deepEqual(await outcomesOf(w, after, dead), [])
  await pass(16)
  await pass(16)
  t.deepEqual(await outcomesOf(w, after, dead), ['sent'])
})

test('outcome events: refusals are told as failed or bounced, by the same reasons as the status', async (t) => {
  const w = await begin(t)
  const { server, send, pass, org } = w
  const after = await lastSeq(w)
  server.cutAt('RCPT', '550 5.1.1 planted reply')
  const bounced = await send()
  server.cutAt('RCPT', '554 5.7.1 planted reply')
  const failed = await send()
  server.cutAt('greeting')
  const connection = await connect(org, server.port)
  const orphan = await send({ connection_id: connection.id })
  await org.owner.delete(`${org.path}/messages/connections/${connection.id}`)
  server.cutAt('never')
  await pass(1)
  t.deepEqual(await outcomesOf(w, after, bounced), ['bounced'])
  t.deepEqual(await outcomesOf(w, after, failed), ['failed'])
  t.deepEqual(await outcomesOf(w, after, orphan), ['failed'])
  t.notRegex(JSON.stringify(await outcomes(w, after)), /planted|deleted/)
})

test('outcome events: a reported bounce is told once, of who sent the message, and a complaint or an unknown message is not', async (t) => {
  const w = await begin(t)
  const { server, send, connection, visitor, org } = w
  server.cutAt('never')
  const after = await lastSeq(w)
  const id = await send()
  const report = async (event: string, message_id: string) => {
    const body = JSON.stringify({ event, message_id })
    const time = Math.floor(clock / 1_000)
    const signature = createHmac('sha256', connection.webhook_secret).update(`${time}.${body}`).digest('hex')
    const headers = { 'content-type': 'application/json', 'x-kontor-signature': `t=${time},v1=${signature}` }
    const { status } = await visitor.send('POST', new URL(connection.webhook_url).pathname, body, headers)
    t.is(status, 200)
  }
  for (const [event, message] of [
    ['complaint', id],
    ['bounce', randomUUID()],
    ['bounce', id],
    ['bounce', id],
  ] as const)
    await report(event, message)
  const events = await outcomes(w, after)
  t.deepEqual(
    events.map(({ type, subject, actor }) => [type, subject.id, actor.id]),
    [
      ['messages.sent', id, org.ownerId],
      ['messages.bounced', id, org.ownerId],
    ],
  )
  t.deepEqual(events[0]?.cause, events[1]?.cause)
})

test('outcome events: a message that waits for 30 days, or that an operator cancels, has failed; a skipped one has no outcome', async (t) => {
  const w = await begin(t)
  const { server, send, sendOne, db, org, connection, drain } = w
  server.cutAt('RCPT', '451 4.7.1 planted delay')
  const after = await lastSeq(w)
  const [old, cancelled] = [await send(), await send()]
  await postponeRetries(db, 'mail.send')
  const operator = operatorOf(w)
  const { jobs } = await operator.list({ kind: 'mail.send', workspace: org.id })
  const shown = await Promise.all(jobs.map(async ({ id }) => [id, (await operator.show(id)).payload] as const))
  const [jobId = ''] = shown.find(([, payload]) => (payload as { mailId: string }).mailId === cancelled) ?? []
  await operator.act('cancel', jobId)
  await ageMessages(db, [old, cancelled], 31)
  for (const _ of [1, 2]) await runMaintenanceTask(w, 'forget_message_texts')
  t.deepEqual([await outcomesOf(w, after, cancelled), await outcomesOf(w, after, old)], [['failed'], ['failed']])
  server.cutAt('never')
  await addDoNotContact(db, org.id, 1)
  const skipped = await sendOne({ connection_id: connection.id, to: 'a@example.com', ...words })
  await drain()
  t.true(skipped.skipped)
  t.deepEqual(await outcomesOf(w, after, skipped.message_id), [])
})

test('outcome events: they are for who manages messages, and mail of Kontor and what is rolled back have none', async (t) => {
  const w = await begin(t)
  const { server, send, org, api } = w
  server.cutAt('never')
  const after = await lastSeq(w)
  const id = await send()
  const rule = (action: string) => [{ effect: 'allow', actions: [action], resources: ['*'] }]
  const manager = await createMember(w, org, rule('messages:manage'))
  const others = [await createMember(w, org), await createMember(w, org, rule('messages:send'))]
  t.deepEqual(
    (await outcomes(w, after, manager.client)).map(({ subject }) => subject.id),
    [id],
  )
  for (const { client } of others) t.deepEqual(await outcomes(w, after, client), [])
  const later = await lastSeq(w)
  server.cutAt('greeting')
  const waiting = await send()
  const failing = api.services.database.transaction(async (tx) => {
    await completeMail(tx, waiting, 'failed', 'planted', new Date(clock))
    throw new Error('no')
  })
  await t.throwsAsync(failing, { message: 'no' })
  t.is((await org.owner.post(`${org.path}/members`, { email: 'new@example.com', role_ids: [] })).status, 201)
  await w.drain()
  t.deepEqual(await outcomes(w, later), [])
})
