import { randomUUID } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import { type Cut, type CuttingServer, cuts, startCuttingServer } from '#test/features/messages/cutting-server.ts'
import { ageMessages, markSending } from '#test/features/messages/rows.ts'
import { connect, made, read, sender } from '#test/features/messages/support.ts'
import { postponeRetries } from '#test/platform/jobs/rows.ts'
import { runMaintenanceTask } from '#test/support/maintenance.ts'
import { retryJobsNow, setWorkspaceStatus } from '#test/support/rows.ts'
import { type World, world } from '#test/support/world.ts'

let clock = Date.now()

interface Site extends World {
  readonly server: CuttingServer
  readonly send: (more?: object) => Promise<string>
  /** Moves the time, and waits until all due work is done. */
  readonly pass: (minutes: number) => Promise<void>
}

/** One world for the file: its tests share a server that breaks off, so they run one after the other. */
const ends: (() => unknown)[] = []
let shared: Promise<Site> | undefined
const begin = (t: ExecutionContext): Promise<Site> => {
  shared ??= open(t)
  return shared
}
test.after.always(async () => {
  for (const end of ends.reverse()) await end()
})

async function open(t: ExecutionContext): Promise<Site> {
  const server = await startCuttingServer({ teardown: (end) => ends.push(end) })
  const w = await world({ EGRESS_ALLOW: `127.0.0.1:${server.port}`, LOG_LEVEL: 'silent' }, undefined, () => new Date(clock))
  ends.push(w.close)
  const { id: connection_id } = await connect(w.org, server.port, { username: 'shop', password: 'hush' })
  const sendOne = await sender(t, w.org)
  const send = async (more: object = {}) => {
    const to = `${randomUUID()}@example.com`
    const { message_id } = await sendOne({ connection_id, to, subject: 'A', body_text: 'B', ...more })
    await w.drain()
    return message_id
  }
  const pass = async (minutes: number) => {
    clock += minutes * 60_000
    await retryJobsNow(w.db, 'mail.send')
    w.worker.pools.pollAll()
    await w.drain()
  }
  return { ...w, server, send, pass }
}

/** The status of a message after its connection broke at each point. */
const after: Readonly<Record<Exclude<Cut, 'STARTTLS'>, string>> = {
  greeting: 'queued',
  EHLO: 'queued',
  AUTH: 'queued',
  MAIL: 'queued',
  RCPT: 'queued',
  DATA: 'queued',
  'mid-body': 'queued',
  'after the dot': 'uncertain',
  'after 250': 'sent',
  never: 'sent',
}

for (const cut of cuts)
  test(`delivery: a connection that breaks at ${cut} leaves a message ${after[cut]}, and it arrives once if it can be known`, async (t) => {
    const { server, send, pass, org } = await begin(t)
    server.cutAt(cut)
    const id = await send()
    t.is((await read(org, id)).status, after[cut])
    server.cutAt('never')
    await pass(1)
    const isUncertain = cut === 'after the dot'
    t.is((await read(org, id)).status, isUncertain ? 'uncertain' : 'sent')
    t.is(server.whole.filter((one) => one === id).length, 1)
    await pass(15)
    t.is((await read(org, id)).status, 'sent')
    t.is(server.whole.filter((one) => one === id).length, isUncertain ? 2 : 1, 'the second try has the same Message-ID')
  })

test('delivery: once a connection has delivered a message, those that wait for its server follow', async (t) => {
  const { server, send, org, db, drain } = await begin(t)
  server.cutAt('greeting')
  const waiting = [await send(), await send(), await send()]
  server.cutAt('RCPT', '451 4.7.1 greylisted')
  const greylisted = await send()
  await postponeRetries(db, 'mail.send')
  server.cutAt('never')
  const last = await send()
  await drain()
  t.deepEqual(server.whole.filter((id) => [...waiting, last].includes(id)).sort(), [...waiting, last].sort())
  for (const id of [...waiting, last]) t.is((await read(org, id)).status, 'sent')
  t.like(await read(org, greylisted), { status: 'queued', attempts: 1 }, 'its reason is its own')
})

test('delivery: a message that is uncertain twice stays so, and is not attempted a third time', async (t) => {
  const { server, send, pass, org } = await begin(t)
  server.cutAt('after the dot')
  const id = await send()
  await pass(14)
  t.is(server.whole.filter((one) => one === id).length, 1, 'not before 15 minutes')
  await pass(1)
  t.like(await read(org, id), { status: 'uncertain', attempts: 2 })
  server.cutAt('never')
  for (const _ of [1, 2, 3]) await pass(60)
  t.like(await read(org, id), { status: 'uncertain', attempts: 2 })
  t.is(server.whole.filter((one) => one === id).length, 2)
})

test('delivery: a second attempt with a temporary refusal leaves the message uncertain; a permanent refusal completes it', async (t) => {
  const { server, send, pass, org } = await begin(t)
  for (const [reply, status] of [
    ['451 later', 'uncertain'],
    ['550 5.1.1 nobody here', 'bounced'],
  ] as const) {
    server.cutAt('after the dot')
    const id = await send()
    server.cutAt('RCPT', reply)
    await pass(15)
    t.like(await read(org, id), { status, attempts: 2 })
    server.cutAt('never')
    await pass(60)
    t.like(await read(org, id), { status, attempts: 2 })
  }
})

for (const [at, reply, status] of [
  ['RCPT', '421 4.3.0 closing', 'queued'],
  ['RCPT', '450 4.2.1 busy', 'queued'],
  ['DATA', '451 4.3.0 trouble', 'queued'],
  ['after the dot', '452 4.3.1 full', 'queued'],
  ['AUTH', '535 5.7.8 wrong password', 'queued'],
  ['AUTH', '454 4.7.0 not now', 'queued'],
  ['AUTH', '504 5.5.4 unknown mechanism', 'queued'],
  ['AUTH', '503 5.5.1 not here', 'queued'],
  ['STARTTLS', '454 4.7.0 not now', 'queued'],
  ['STARTTLS', '502 5.5.1 not implemented', 'queued'],
  ['greeting', '554 5.3.2 go away', 'queued'],
  ['MAIL', '530 5.7.0 sign in first', 'queued'],
  ['MAIL', '550 5.7.1 sender not allowed', 'queued'],
  ['MAIL', '553-5.7.1 not owned\r\n553 5.7.1 by user shop', 'queued'],
  ['RCPT', '530 5.7.0 sign in first', 'queued'],
  ['RCPT', '550 5.1.1 unknown', 'bounced'],
  ['RCPT', '550 5.1.10 null MX', 'bounced'],
  ['RCPT', '550 5.2.1 disabled', 'bounced'],
  ['after the dot', '550 5.1.1 unknown', 'bounced'],
  ['RCPT', '550 5.7.1 policy', 'failed'],
  ['RCPT', '550 no such user 5.1.1', 'failed'],
  ['MAIL', '552 5.3.4 too big', 'failed'],
  ['RCPT', '553 5.1.3 bad address', 'failed'],
  ['after the dot', '554 5.7.1 spam', 'failed'],
] as const)
  test(`delivery: "${reply}" at ${at} makes a message ${status}`, async (t) => {
    const { server, send, pass, org } = await begin(t)
    server.cutAt(at, reply)
    const id = await send()
    const message = await read(org, id)
    t.like(message, { status, attempts: 1 })
    t.true(message.error.includes(reply.slice(0, 8)), message.error)
    server.cutAt('never')
    await pass(1)
    t.is((await read(org, id)).status, status === 'queued' ? 'sent' : status)
  })

test('delivery: a worker that dies during a delivery leaves the message uncertain', async (t) => {
  const { server, send, pass, org, db, worker, drain } = await begin(t)
  server.cutAt('greeting')
  const id = await send()
  await markSending(db, id)
  server.cutAt('never')
  await retryJobsNow(db, 'mail.send')
  worker.pools.pollAll()
  await drain()
  t.like(await read(org, id), { status: 'uncertain', error: 'The worker died while sending the mail' })
  await pass(15)
  t.is((await read(org, id)).status, 'sent')
})

test('delivery: messages of a suspended workspace wait, and are sent once it is active again', async (t) => {
  const { server, send, pass, org, db } = await begin(t)
  server.cutAt('greeting')
  const id = await send()
  await setWorkspaceStatus(db, org.id, 'suspended')
  server.cutAt('never')
  const before = server.connections()
  await pass(60)
  t.is(server.connections(), before)
  await setWorkspaceStatus(db, org.id, 'active')
  await pass(1)
  t.is((await read(org, id)).status, 'sent')
})

test('delivery: messages of a deleted connection fail with an error that says so', async (t) => {
  const { server, send, pass, org } = await begin(t)
  server.cutAt('greeting')
  const connection = await connect(org, server.port)
  const id = await send({ connection_id: connection.id })
  await org.owner.delete(`${org.path}/messages/connections/${connection.id}`)
  await pass(1)
  t.like(await read(org, id), { status: 'failed', error: 'The connection of the mail has been deleted' })
})

test('delivery: the text of a message is kept for 30 days, and an older message is not sent', async (t) => {
  const site = await begin(t)
  const { send, server, org, db, pass } = site
  server.cutAt('RCPT', '451 4.7.1 greylisted')
  const waiting = await send()
  server.cutAt('never')
  const sent = await send()
  await ageMessages(db, [sent, waiting], 29)
  await runMaintenanceTask(site, 'forget_message_texts')
  t.is((await read(org, sent)).body_text, 'B')
  await ageMessages(db, [sent, waiting], 31)
  await runMaintenanceTask(site, 'forget_message_texts')
  t.like(await read(org, sent), { body_text: null, body_html: null, subject: 'A', status: 'sent' })
  await pass(1)
  t.like(await read(org, waiting), { status: 'failed', error: 'It could not be sent for 30 days' })
  t.true((await made(org.owner.get(`${org.path}/messages?limit=200`))).some(({ id }: { id: string }) => id === sent))
})
