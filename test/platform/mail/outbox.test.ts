import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { platformCause } from '#shared/platform/kernel/cause.ts'
import { queueMail } from '#shared/platform/mail/outbox.ts'
import { callKontor } from '#test/bin/call.ts'
import { deleteMails, readMails, readRetryDelays } from '#test/platform/mail/rows.ts'
import { shareMailServer, startMailServer } from '#test/platform/mail/smtp.ts'
import { mailsTo } from '#test/support/mailbox.ts'
import { retryJobsNow } from '#test/support/rows.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { type World, world } from '#test/support/world.ts'
import { registry } from '#workers/metrics.ts'

const cause = platformCause('test')
const mail = { workspaceId: null, kind: 'test', to: 'ann@example.com', subject: 'Hello', text: 'Hello Ann' } as const

const mailServer = shareMailServer(test)
const shared = shareWorld(test, async () => ({
  SMTP_URL: (await mailServer()).url,
  MAIL_FROM: 'Kontor <post@kontor.example>',
  PUBLIC_URL: 'https://kontor.example',
  LOG_LEVEL: 'silent',
}))

/** A world with a mail server; the mails of a test are removed at its end. */
async function open(t: ExecutionContext) {
  const [w, server] = [await shared(), await mailServer()]
  t.teardown(async () => {
    await deleteMails(w.db)
    server.reset()
  })
  return { w, server }
}

const sender = ({ api }: World) => ({ db: api.services.database, jobQueue: api.services.jobQueue, cause })

test('outbox: a mail is sent through SMTP_URL as it was written', async (t) => {
  const { w, server } = await open(t)
  const calendar = { method: 'REQUEST', content: 'BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nEND:VCALENDAR\r\n' } as const
  const headers = { 'List-Unsubscribe': '<https://kontor.example/unsubscribe/x>' }
  const full = {
    ...mail,
    to: 'ann@bücher.example',
    subject: 'Grüße – 你好',
    text: 'Zeile eins\n=20 bleibt.\n',
    html: '<p>Grüße</p>',
    headers,
    calendar,
  }
  const id = await queueMail(sender(w), full)
  await w.drain()
  t.is(server.taken.length, 1)
  const { to, raw, mail: seen } = server.taken[0] as (typeof server.taken)[number]
  t.deepEqual(to, ['ann@bücher.example'])
  t.deepEqual(seen.from, { name: 'Kontor', address: 'post@kontor.example' })
  t.is(seen.subject, 'Grüße – 你好')
  t.is(seen.text?.replaceAll('\r\n', '\n').trimEnd(), 'Zeile eins\n=20 bleibt.')
  t.regex(seen.html ?? '', /<p>Grüße<\/p>/)
  t.is(seen.messageId, `<${id}@kontor.example>`)
  t.regex(raw, /^List-Unsubscribe: <https:\/\/kontor\.example\/unsubscribe\/x>\r$/m)
  t.regex(raw, /^Content-Type: text\/calendar; charset=utf-8; method=REQUEST\r$/m)
  const [row] = await readMails(w.db)
  t.like(row, { id, status: 'sent', attempts: 1, last_error: null, body_text: '' })
  t.truthy(row?.sent_at)
})

test('outbox: an address that needs SMTPUTF8 is failed at once by a server without it, and sent by one with it', async (t) => {
  const { w, server } = await open(t)
  const international = 'ünal@example.com'
  await queueMail(sender(w), { ...mail, to: international })
  await w.drain()
  t.deepEqual(
    server.taken.map(({ to }) => to),
    [[international]],
  )
  const plain = await startMailServer(t, 0, { hideSMTPUTF8: true })
  const own = await world({ SMTP_URL: plain.url, MAIL_FROM: 'Kontor <post@kontor.example>', LOG_LEVEL: 'silent' })
  t.teardown(own.close)
  for (const to of [international, 'ann@bücher.example', 'ann@example.com']) await queueMail(sender(own), { ...mail, to })
  await queueMail(sender(own), { ...mail, to: 'header@example.com', headers: { 'Reply-To': international } })
  await own.drain()
  const rows = await readMails(own.db)
  t.deepEqual(
    rows.map(({ status, attempts }) => [status, attempts]),
    [
      ['failed', 1],
      ['sent', 1],
      ['sent', 1],
      ['failed', 1],
    ],
  )
  for (const { last_error } of [rows[0], rows[3]].flatMap((row) => row ?? [])) t.regex(last_error ?? '', /does not offer SMTPUTF8/)
  t.is(plain.taken.length, 2)
  for (const { raw } of plain.taken) t.notRegex(raw.split('\r\n\r\n')[0] ?? '', /[^\0-\x7f]/)
})

test('outbox: line breaks in names and subjects never become headers', async (t) => {
  const { w, server } = await open(t)
  const hostile = 'Hi\r\nBcc: victim@example.com\r\n\r\nBuy'
  await queueMail(sender(w), { ...mail, subject: hostile, headers: { 'X-Note': hostile } })
  await queueMail(sender(w), { ...mail, to: 'ann@example.com\r\nRCPT TO:<victim@example.com>' })
  await queueMail(sender(w), { ...mail, to: 'ann@example.com, victim@example.com' })
  await w.drain()
  t.true(server.taken.length > 0)
  for (const { to, raw } of server.taken) {
    t.is(to.length, 1)
    t.false(to.includes('victim@example.com'))
    t.notRegex(raw, /^Bcc:/im)
  }
})

test('outbox: a mail of a rolled-back transaction is never sent', async (t) => {
  const { w, server } = await open(t)
  const { db, jobQueue } = sender(w)
  const rolledBack = db.transaction(async (tx) => {
    await queueMail({ db: tx, jobQueue, cause }, mail)
    throw new Error('no')
  })
  await t.throwsAsync(rolledBack, { message: 'no' })
  await w.drain()
  t.deepEqual(await readMails(w.db), [])
  t.is(server.taken.length, 0)
})

test('outbox: a mail that is queued repeatedly under one id is sent once', async (t) => {
  const { w, server } = await open(t)
  const id = '01999999-9999-7999-8999-999999999999'
  await Promise.all(Array.from({ length: 20 }, () => queueMail(sender(w), { ...mail, id })))
  await w.drain()
  await queueMail(sender(w), { ...mail, id })
  await w.drain()
  t.is(server.taken.length, 1)
})

test('outbox: a mail at the end of a long chain of automations is sent', async (t) => {
  const { w, server } = await open(t)
  await queueMail({ ...sender(w), cause: { ...cause, depth: 9 } }, mail)
  await w.drain()
  t.is(server.taken.length, 1)
})

test('outbox: a refused mail is tried ten times with growing delays, stored as failed, and sent by jobs retry', async (t) => {
  const { w, server } = await open(t)
  server.refuse({ code: 451, text: 'come back later' })
  const id = await queueMail(sender(w), { ...mail, kind: 'refused' })
  await w.drain()
  const delays: number[] = []
  for (let tries = 1; tries <= 9; tries++) {
    const [row] = await readMails(w.db)
    t.like(row, { status: 'queued', attempts: tries, sent_at: null })
    t.regex(row?.last_error ?? '', /451 come back later/)
    const retries = await readRetryDelays(w.db)
    t.is(retries.length, 1)
    delays.push(...retries)
    await retryJobsNow(w.db, 'mail.send')
    w.worker.pools.pollAll()
    await w.drain()
  }
  t.true((delays[0] ?? 0) > 5 && (delays[8] ?? 0) > 20 * (delays[0] ?? 0), `delays grow: ${delays.join(', ')}`)
  t.like((await readMails(w.db))[0], { id, status: 'failed', attempts: 10, body_text: 'Hello Ann' })

  const listFailed = async () => (await callKontor(w, 'jobs', 'list', '--state', 'failed', '--json')).json
  const { jobs, total } = await listFailed()
  t.is(total, 1)
  t.like(jobs[0], { kind: 'mail.send', state: 'failed', workspace: null, request_id: 'test' })
  t.regex(jobs[0].error.message, /451 come back later/)
  server.refuse(null)
  const retried = await callKontor(w, 'jobs', 'retry', jobs[0].id, '--json')
  t.deepEqual(retried.json, { done: 1, skipped: 0, skipped_answered: 0 })
  w.worker.pools.pollAll()
  await w.drain()
  t.is(server.taken.length, 1)
  t.like((await readMails(w.db))[0], { status: 'sent', attempts: 11, last_error: null })
  t.is((await listFailed()).total, 0)
  t.is((await callKontor(w, 'jobs', 'retry', jobs[0].id)).code, 2)
  const metrics = await registry.metrics()
  const tries = [...metrics.matchAll(/^kontor_mail_tries_total\{kind="refused",outcome="(\w+)"\} (\d+)$/gm)].map(([, ...pair]) => pair)
  t.deepEqual(Object.fromEntries(tries), { later: '9', failed: '1', sent: '1' })
  t.regex(metrics, /^kontor_mail_seconds_count\{kind="refused"\} 1$/m)
})

test('outbox: without SMTP_URL a mail becomes an .eml file that only its owner can read', async (t) => {
  const w = await world()
  t.teardown(w.close)
  await queueMail(sender(w), mail)
  await queueMail(sender(w), { ...mail, subject: 'Second' })
  await w.drain()
  const folder = join(w.config.dataDir, 'mail')
  const names = (await readdir(folder)).sort()
  t.is(names.length, 2)
  for (const name of names) {
    t.regex(name, /^\d{4}-\d\d-\d\dT\d{6}\.\d{6}Z-[0-9a-f-]{36}\.eml$/)
    t.is((await stat(join(folder, name))).mode & 0o777, 0o600)
    t.regex(
      await readFile(join(folder, name), 'utf8'),
      /^Auto-Submitted: auto-generated\r\nFrom: Kontor <no-reply@localhost>\r\nTo: ann@example\.com\r\n/,
    )
  }
  const mails = await mailsTo(w, 'ann@example.com')
  t.deepEqual(
    mails.map(({ subject, text }) => [subject, text?.trim()]),
    [
      ['Hello', 'Hello Ann'],
      ['Second', 'Hello Ann'],
    ],
  )
})
