import test, { type ExecutionContext } from 'ava'
import { platformCause } from '#shared/platform/kernel/cause.ts'
import { queueMail } from '#shared/platform/mail/outbox.ts'
import { callKontor } from '#test/bin/call.ts'
import { deleteMails, readMails } from '#test/platform/mail/rows.ts'
import { shareMailServer } from '#test/platform/mail/smtp.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const cause = platformCause('test')
const mail = { workspaceId: null, kind: 'test', subject: 'a secret subject', text: 'a secret text' } as const

const mailServer = shareMailServer(test)
const shared = shareWorld(test, async () => ({ SMTP_URL: (await mailServer()).url, LOG_LEVEL: 'silent' }))

async function open(t: ExecutionContext) {
  const [w, server] = [await shared(), await mailServer()]
  t.teardown(async () => {
    await deleteMails(w.db)
    server.reset()
  })
  return { w, server }
}

async function queue({ api }: World, count: number, workspaceId: string | null = null): Promise<void> {
  const sender = { db: api.services.database, jobQueue: api.services.jobQueue, cause }
  for (let number = 1; number <= count; number++) await queueMail(sender, { ...mail, workspaceId, to: `ann.${number}@example.com` })
}

test('flush: refused mails wait for another try, and a flush tries them at once', async (t) => {
  const { w, server } = await open(t)
  server.refuse({ code: 451, text: 'come back later' })
  await queue(w, 2)
  await queue(w, 1, w.org.id)
  await w.drain()
  server.refuse(null)
  const { json: ofOne } = await callKontor(w, 'mail', 'flush', '--workspace', w.org.id, '--json')
  t.deepEqual(ofOne, { waiting: 1, tried: 1 })
  w.worker.pools.pollAll()
  await w.drain()
  t.is(server.taken.length, 1)
  const { json } = await callKontor(w, 'mail', 'flush', '--json')
  t.deepEqual(json, { waiting: 2, tried: 2 })
  w.worker.pools.pollAll()
  await w.drain()
  t.is(server.taken.length, 3)
  t.true((await readMails(w.db)).every(({ status, attempts }) => status === 'sent' && attempts === 2))
})

test('flush: ten waiting mails are tried, eleven need --yes', async (t) => {
  const { w, server } = await open(t)
  server.refuse({ code: 451, text: 'come back later' })
  await queue(w, 10)
  await w.drain()
  t.is((await callKontor(w, 'mail', 'flush', '--json')).json.tried, 10)
  w.worker.pools.pollAll()
  await w.drain()
  await queue(w, 1)
  await w.drain()
  const refused = await callKontor(w, 'mail', 'flush')
  t.is(refused.code, 2)
  t.regex(refused.err, /11 mails wait; --yes/)
  t.is((await callKontor(w, 'mail', 'flush', '--yes', '--json')).json.tried, 11)
  w.worker.pools.pollAll()
  await w.drain()
})

test('flush: listed mails are found by status, workspace and recipient, with the last answer of the server and without their texts', async (t) => {
  const { w, server } = await open(t)
  server.refuse({ code: 451, text: 'come back later' })
  await queue(w, 1)
  await w.drain()
  server.refuse(null)
  await queue(w, 2, w.org.id)
  await w.drain()
  const list = async (...options: string[]) => (await callKontor(w, 'mail', 'list', ...options, '--json')).json.mails
  const all = await list()
  t.deepEqual(
    all.map(({ status, workspace, recipient }: Record<string, unknown>) => [status, workspace, recipient]),
    [
      ['sent', 'Acme', 'ann.2@example.com'],
      ['sent', 'Acme', 'ann.1@example.com'],
      ['queued', null, 'ann.1@example.com'],
    ],
  )
  t.regex(all[2].last_error, /451 come back later/)
  t.is((await list('--status', 'queued')).length, 1)
  t.is((await list('--workspace', w.org.id)).length, 2)
  t.is((await list('--to', 'ANN.1@example.com')).length, 2)
  t.is((await callKontor(w, 'mail', 'list', '--status', 'lost')).code, 2)
  const { out } = await callKontor(w, 'mail', 'list')
  t.regex(out, /queued +test +\(the platform\) +ann\.1@example\.com +1 tries +.*451 come back later/)
  t.notRegex(JSON.stringify(all) + out, /a secret/)
})
