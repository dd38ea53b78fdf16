import test, { type ExecutionContext } from 'ava'
import { platformCause } from '#shared/platform/kernel/cause.ts'
import { queueMail } from '#shared/platform/mail/outbox.ts'
import { callKontor } from '#test/bin/call.ts'
import { followLog } from '#test/core/operators/rows.ts'
import { addMail, deleteMails, readMails } from '#test/platform/mail/rows.ts'
import { shareMailServer } from '#test/platform/mail/smtp.ts'
import { createOperator, openPage, pressButton, visitConsole } from '#test/support/operators.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const mailServer = shareMailServer(test)
const shared = shareWorld(test, async () => ({ SMTP_URL: (await mailServer()).url, LOG_LEVEL: 'silent' }))

/** A world without mails, its server of mails, and a session of an operator in its console. */
async function enter(t: ExecutionContext, readOnly = false) {
  const [w, server] = [await shared(), await mailServer()]
  t.teardown(async () => {
    await deleteMails(w.db)
    server.reset()
  })
  const visit = await visitConsole(w, (await createOperator(w, readOnly)).id)
  return { w, server, visit, open: (query = '') => openPage(w, visit, `/operator/mails${query}`) }
}

/** The recipients of the mails that a page lists. */
const recipients = (text: string): (string | undefined)[] => [...text.matchAll(/<bdi>(\w+)@example\.com<\/bdi>/g)].map(([, name]) => name)

test('mail pages: mails that wait or have failed are listed, others by their status, workspace or recipient', async (t) => {
  const { w, open } = await enter(t)
  const secret = 'hunter2-planted'
  const statuses = ['queued', 'sending', 'sent', 'uncertain', 'failed', 'bounced', 'skipped']
  for (const status of statuses) await addMail(w.db, { status, to: `${status}@example.com`, text: secret, error: `451 <${status}>` })
  await addMail(w.db, { status: 'failed', workspaceId: w.org.id, to: 'acme@example.com', text: secret })
  const all = await open()
  t.is(all.status, 200)
  t.deepEqual(recipients(all.text), ['acme', 'bounced', 'failed', 'uncertain', 'sending', 'queued'])
  t.regex(all.text, /451 &lt;failed&gt;/)
  t.regex(all.text, /2 tries/)
  t.deepEqual(recipients((await open('?status=sent&workspace=&to=')).text), ['sent'])
  t.deepEqual(recipients((await open(`?workspace=${w.org.id}`)).text), ['acme'])
  t.deepEqual(recipients((await open('?to=FAILED@example.com')).text), ['failed'])
  const none = await open('?to=nobody@example.com')
  t.regex(none.text, /There are no such mails/)
  for (const { text } of [all, none]) t.false(text.includes(secret))
})

test('mail pages: a search that does not fit is said beside its field, and the form keeps it', async (t) => {
  const { open } = await enter(t)
  for (const [query, error, kept] of [
    ['?status=lost', /id="status-error">Status must be one of queued/, /<option value="lost" selected>/],
    ['?workspace=Acme', /id="workspace-error">Workspace \(id\) must be a valid uuid/, /value="Acme"/],
    [`?to=${'x'.repeat(321)}`, /id="to-error">Recipient must have at most 320/, /value="x{321}"/],
  ] as const) {
    const { status, text } = await open(query)
    t.is(status, 400)
    t.regex(text, error)
    t.regex(text, kept)
  }
})

test('mail pages: the newest 200 are listed', async (t) => {
  const { w, open } = await enter(t)
  const add = (count: number) =>
    Promise.all([...Array(count)].map(() => addMail(w.db, { status: 'failed', to: 'ann@example.com', text: '' })))
  await add(200)
  const whole = await open()
  t.deepEqual([recipients(whole.text).length, /These are the newest 200/.test(whole.text)], [200, false])
  await add(1)
  const cut = await open()
  t.deepEqual([recipients(cut.text).length, /These are the newest 200/.test(cut.text)], [200, true])
})

test('mail pages: the button tries mails that wait, of one workspace or all, and so does the command, each with its entry of the log', async (t) => {
  const { w, server, visit, open } = await enter(t)
  const readLog = await followLog(w.db)
  const { database: db, jobQueue } = w.api.services
  const cause = platformCause('test')
  const queue = (workspaceId: string | null) =>
    queueMail({ db, jobQueue, cause }, { workspaceId, kind: 'test', to: 'ann@example.com', subject: 'planted', text: 'planted' })
  t.notRegex((await open()).text, /Try all/)
  server.refuse({ code: 451, text: 'come back later' })
  for (const workspaceId of [null, null, w.org.id]) await queue(workspaceId)
  await w.drain()
  t.regex((await open()).text, /451 come back later[\s\S]*3 mails wait\.[\s\S]*Try all</)
  t.regex((await open(`?workspace=${w.org.id}`)).text, /1 mail waits in this workspace[\s\S]*Try all of this workspace</)
  const ofOne = await pressButton(w, visit, '/operator/mails/flush', { workspace: w.org.id })
  t.deepEqual([ofOne.status, ofOne.headers.get('location')], [303, `/operator/mails?workspace=${w.org.id}&tried=1`])
  t.regex((await openPage(w, visit, ofOne.headers.get('location') ?? '')).text, /role="status">1 mail is tried again/)
  server.refuse(null)
  w.worker.pools.pollAll()
  await w.drain()
  t.is(server.taken.length, 1)
  t.is((await pressButton(w, visit, '/operator/mails/flush')).headers.get('location'), '/operator/mails?tried=2')
  w.worker.pools.pollAll()
  await w.drain()
  t.true((await readMails(w.db)).every(({ status }) => status === 'sent'))
  t.is((await pressButton(w, visit, '/operator/mails/flush')).headers.get('location'), '/operator/mails?tried=0')
  t.is((await pressButton(w, visit, '/operator/mails/flush', { workspace: 'Acme' })).status, 400)
  server.refuse({ code: 451, text: 'come back later' })
  await queue(null)
  await w.drain()
  t.is((await callKontor(w, 'mail', 'flush', '--json')).json.tried, 1)
  t.deepEqual(
    (await readLog()).map(({ action, subject, count, operator_id }) => [action, subject, count, operator_id !== null]),
    [
      ['mail.flush', { workspace: w.org.id }, 1, true],
      ['mail.flush', { workspace: null }, 2, true],
      ['mail.flush', { workspace: null }, 1, false],
    ],
  )
})

test('mail pages: a read-only operator sees mails and no button', async (t) => {
  const { w, visit, open } = await enter(t, true)
  await addMail(w.db, { status: 'queued', to: 'ann@example.com', text: '' })
  const { text } = await open()
  t.deepEqual(recipients(text), ['ann'])
  t.notRegex(text, /Try all/)
  t.is((await pressButton(w, visit, '/operator/mails/flush')).status, 403)
})
