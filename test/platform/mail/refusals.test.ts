import test from 'ava'
import { freePort } from '#scripts/ports.ts'
import { queueMail } from '#shared/platform/mail/outbox.ts'
import { startCuttingServer } from '#test/features/messages/cutting-server.ts'
import { readMails } from '#test/platform/mail/rows.ts'
import { eventually } from '#test/support/eventually.ts'
import { startProcess } from '#test/support/process.ts'
import { retryJobsNow } from '#test/support/rows.ts'
import { world } from '#test/support/world.ts'

const cause = { actorId: null, actorType: 'system', requestId: 'test', depth: 0 } as const

test('refusals: a relay that refuses AUTH delays all mail, is logged as a warning and counted; mail is sent once it signs in', async (t) => {
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
  worker.stdout.on('data', (chunk) => lines.push(...String(chunk).split('\n')))
  const mails = () => readMails(w.db)
  await eventually(async () => (await mails()).every(({ attempts }) => attempts === 1))
  for (const row of await mails()) t.like(row, { status: 'queued', attempts: 1 })
  await eventually(async () => lines.filter((line) => line.includes('mail relay refuses')).length === 3)
  const [first] = lines.filter((line) => line.includes('mail relay refuses')).map((line) => JSON.parse(line))
  t.like(first, { level: 40, relay: 'operator', reason: 'auth', host: '127.0.0.1', workspace_id: null })
  t.regex(first.error, /535 5\.7\.8 wrong password/)
  t.false(lines.some((line) => line.includes('hush')))
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  t.regex(metrics, /^kontor_mail_relay_refusals_total\{relay="operator",reason="auth"\} 3$/m)
  server.cutAt('never')
  await eventually(async () => {
    await retryJobsNow(w.db, 'mail.send')
    return (await mails()).every(({ status }) => status === 'sent')
  })
  t.deepEqual([...server.whole].sort(), ids.sort())
})
