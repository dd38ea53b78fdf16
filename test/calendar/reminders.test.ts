import test from 'ava'
import { makeEvent } from '#test/calendar/support.ts'
import { createMember } from '#test/support/factories.ts'
import { mailsTo } from '#test/support/mailbox.ts'
import { world } from '#test/support/world.ts'

test('those who come are reminded once: members by a notification, others by mail', async (t) => {
  let now = new Date('2026-12-01T08:00:00Z')
  const w = await world({}, undefined, () => now)
  t.teardown(w.close)
  const ada = await createMember(w, w.org, [], 'Ada')
  const inbox = async () =>
    (await ada.client.get(`${w.org.path}/notifications`)).data.notifications.map(({ title }: { title: string }) => title.split(':')[0])
  const attendees = [{ user_id: ada.id }, { email: 'guest@example.com' }]
  await makeEvent(t, w, { attendees, reminders: [15], recurrence: 'FREQ=DAILY;COUNT=2', notify: false })
  await makeEvent(t, w, { title: 'Late', start: '2026-12-01T08:05:00Z', attendees, reminders: [30], notify: false })
  await w.drain()
  t.deepEqual(await inbox(), [])
  for (const time of ['2026-12-01T08:45:00Z', '2026-12-01T08:46:00Z']) {
    now = new Date(time)
    await w.drain()
    t.deepEqual(await inbox(), ['Review'])
  }
  now = new Date('2026-12-02T08:50:00Z')
  await w.drain()
  t.deepEqual(await inbox(), ['Review', 'Review'])
  const mails = await mailsTo(w, 'guest@example.com')
  t.deepEqual(
    mails.map(({ subject }) => subject),
    ['Reminder: Review', 'Reminder: Review'],
  )
})
