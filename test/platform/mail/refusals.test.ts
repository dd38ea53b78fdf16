import test from 'ava'
import { freePort } from '#scripts/ports.ts'
import { platformCause } from '#shared/platform/kernel/cause.ts'
import { queueMail } from '#shared/platform/mail/outbox.ts'
import { startCuttingServer } from '#test/features/messages/cutting-server.ts'
import { readWaitingJobs } from '#test/platform/jobs/rows.ts'
import { deleteMails, readMails, readRetryDelays } from '#test/platform/mail/rows.ts'
import { eventually } from '#test/support/eventually.ts'
import { startProcess } from '#test/support/process.ts'
import { world } from '#test/support/world.ts'

const cause = platformCause('test')

test('refusals: mail waits for a relay that refuses AUTH, with one line in the log; once it signs in, all of it is sent', async (t) => {
  const server = await startCuttingServer(t)
  server.cutAt('AUTH', '535 5.7.8 wrong password')
  const w = await world({ LOG_LEVEL: 'silent' }, ['data', 'schedule'])
  t.teardown(w.close)
  const { database: db, jobQueue } = w.api.services
  const ids: string[] = []
  for (let n = 0; n < 3; n++) {
    const mail = { workspaceId: null, kind: 'test', to: `${n}@example.com`, subject: 'Hello', text: 'Hello' }
    ids.push(await queueMail({ db, jobQueue, cause }, mail))
  }
  const port = await freePort()
  const environment = { SMTP_URL: `smtp://shop:hush@127.0.0.1:${server.port}`, LOG_LEVEL: 'warn', WORKER_PORT: String(port) }
  const worker = await startProcess(t, w, 'mail', environment)
  const lines: string[] = []
  worker.stdout.on('data', (chunk) => lines.push(...String(chunk).split('\n').filter(Boolean)))
  const mails = () => readMails(w.db)
  await eventually(async () => (await mails()).every(({ last_error }) => last_error !== null))
  for (const row of await mails()) t.like(row, { status: 'queued', attempts: 0, last_error: '535 5.7.8 wrong password' })
  t.is((await readWaitingJobs(w.db, 'mail.send')).filter(({ retryCount }) => retryCount > 0).length, 0)
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  t.regex(metrics, /^kontor_mail_relay_refusals_total\{relay="operator",reason="auth"\} [1-9]\d*$/m)
  t.regex(metrics, /^kontor_mail_server_up 0$/m)
  server.cutAt('never')
  await eventually(async () => (await mails()).every(({ status }) => status === 'sent'))
  t.deepEqual([...server.whole].sort(), ids.sort())
  await eventually(() => lines.length >= 2)
  const [away, back, ...others] = lines.map((line) => JSON.parse(line))
  t.like(away, { part: 'mail server', reason: '535 5.7.8 wrong password (auth)' })
  t.regex(back.msg, /is back/)
  t.deepEqual(others, [])
  t.false(lines.some((line) => line.includes('hush')))
})

test('refusals: a mail that the relay refuses for a reason of its own is named in the log, and keeps its schedule', async (t) => {
  const server = await startCuttingServer(t)
  server.cutAt('RCPT', '451 4.7.1 greylisted')
  const w = await world({ LOG_LEVEL: 'silent' }, ['data', 'schedule'])
  t.teardown(w.close)
  const { database: db, jobQueue } = w.api.services
  const worker = await startProcess(t, w, 'mail', { SMTP_URL: `smtp://127.0.0.1:${server.port}`, LOG_LEVEL: 'warn' })
  const lines: string[] = []
  worker.stdout.on('data', (chunk) => lines.push(...String(chunk).split('\n').filter(Boolean)))
  const id = await queueMail({ db, jobQueue, cause }, { workspaceId: w.org.id, kind: 'test', to: 'a@example.com', subject: 'A', text: 'B' })
  const line = JSON.parse(await eventually(() => lines[0]))
  t.like(line, { level: 40, mail_id: id, workspace_id: w.org.id, host: '127.0.0.1', error: '451 4.7.1 greylisted' })
  t.is(line.err, undefined, 'no stack')
  await eventually(async () => (await readRetryDelays(w.db)).length === 1)
  t.like((await readMails(w.db))[0], { status: 'queued', attempts: 1 })
  t.deepEqual(await readWaitingJobs(w.db, 'mail.send'), [])
  await deleteMails(w.db)
})
