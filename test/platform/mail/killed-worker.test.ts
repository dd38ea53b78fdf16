import test from 'ava'
import { platformCause } from '#shared/platform/kernel/cause.ts'
import { queueMail } from '#shared/platform/mail/outbox.ts'
import { countMails, hurryLostMails } from '#test/platform/mail/rows.ts'
import { startMailServer } from '#test/platform/mail/smtp.ts'
import { times } from '#test/support/depth.ts'
import { eventually } from '#test/support/eventually.ts'
import { end, startProcess } from '#test/support/process.ts'
import { countRows } from '#test/support/rows.ts'
import { world } from '#test/support/world.ts'

const [count, kills] = [times(80, 150), times(2, 4)]

test('killed worker: all mails arrive although their worker is killed repeatedly, and only those being sent arrive twice', async (t) => {
  const server = await startMailServer(t)
  const w = await world({ LOG_LEVEL: 'silent' }, ['data', 'flows', 'functions', 'schedule'])
  t.teardown(w.close)
  const { database: db, jobQueue } = w.api.services
  const cause = platformCause('test')
  const ids: string[] = []
  for (let n = 0; n < count; n++) {
    const mail = { workspaceId: null, kind: 'test', to: `${n}@example.com`, subject: 'Hello', text: 'Hello' }
    ids.push(await queueMail({ db, jobQueue, cause }, mail))
  }
  let underWay = 0
  const sending = () => countMails(w.db, ['sending'])
  for (let kill = 0; kill <= kills; kill++) {
    const before = server.taken.length
    const worker = await startProcess(t, w, 'mail', { SMTP_URL: server.url })
    if (kill === kills) break
    await eventually(async () => server.taken.length > before && (await sending()) > 0)
    await end(worker)
    underWay += await sending()
  }
  // Mails of a dead worker are retried once its heartbeat is old; a second attempt comes after a quarter of an hour.
  await eventually(async () => {
    await hurryLostMails(w.db)
    return (await countRows(w.db, 'outbox_mails')) === (await countMails(w.db, ['sent']))
  })
  const arrived = new Map<string, number>()
  for (const { mail } of server.taken) {
    const id = mail.messageId?.replace(/^<(.*)@.*$/, '$1') ?? ''
    arrived.set(id, (arrived.get(id) ?? 0) + 1)
  }
  t.deepEqual([...arrived.keys()].sort(), ids.sort())
  t.true([...arrived.values()].every((copies) => copies <= 2))
  const twice = server.taken.length - count
  t.true(underWay > 0 && twice <= underWay, `${twice} copies for ${underWay} mails that were being sent`)
  t.log(`${count} mails, ${kills} kills, ${underWay} under way, ${twice} came twice`)
})
