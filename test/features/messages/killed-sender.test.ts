import test from 'ava'
import { lastSeq, readAll } from '#test/core/events/reading.ts'
import { connect, made, sender } from '#test/features/messages/support.ts'
import { countMails, hurryLostMails } from '#test/platform/mail/rows.ts'
import { startMailServer } from '#test/platform/mail/smtp.ts'
import { times } from '#test/support/depth.ts'
import { eventually } from '#test/support/eventually.ts'
import { end, startProcess } from '#test/support/process.ts'
import { world } from '#test/support/world.ts'

const [count, kills] = [times(60, 150), times(2, 6)]

test('killed sender: each message has one outcome in the list of events although the workers are killed repeatedly', async (t) => {
  const server = await startMailServer(t)
  const environment = { EGRESS_ALLOW: `127.0.0.1:${server.port}`, LOG_LEVEL: 'silent' }
  const w = await world(environment, ['data', 'flows', 'functions', 'schedule'])
  t.teardown(w.close)
  const { id: connection_id } = await connect(w.org, server.port)
  const send = await sender(t, w.org)
  const after = await lastSeq(w)
  const ids: string[] = []
  for (let n = 0; n < count; n++) ids.push((await send({ connection_id, to: `${n}@example.com`, subject: 'A', body_text: 'B' })).message_id)
  let underWay = 0
  const sending = () => countMails(w.db, ['sending'])
  for (let kill = 0; kill <= kills; kill++) {
    const before = server.taken.length
    const worker = await startProcess(t, w, 'mail', environment)
    if (kill === kills) break
    await eventually(async () => server.taken.length > before && (await sending()) > 0)
    await end(worker)
    underWay += await sending()
  }
  await eventually(async () => {
    await hurryLostMails(w.db)
    return (await countMails(w.db, ['sent'])) === count
  })
  const events = (await readAll(w, w.org.owner, after)).filter(({ type }) => type.startsWith('messages.'))
  t.deepEqual(events.map(({ type, subject }) => `${type} ${subject.id}`).sort(), ids.map((id) => `messages.sent ${id}`).sort())
  t.true(underWay > 0)
  const listed = await made(w.org.owner.get(`${w.org.path}/messages?limit=200&status=sent`))
  t.is(listed.length, count)
  t.log(`${count} messages, ${kills} kills, ${underWay} under way`)
})
