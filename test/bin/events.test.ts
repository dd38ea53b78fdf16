import { once } from 'node:events'
import { createInterface } from 'node:readline'
import test, { type ExecutionContext } from 'ava'
import { callKontor } from '#test/bin/call.ts'
import { lastSeq } from '#test/core/events/reading.ts'
import { makeCalendar, makeEvent } from '#test/features/calendar/support.ts'
import { numberEvents } from '#test/support/events.ts'
import { eventually } from '#test/support/eventually.ts'
import { startLauncher } from '#test/support/process.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const shared = shareWorld(test)

/** Follows the events of a world's workspace; `stop` interrupts, and returns how the process ended. */
async function tail(t: ExecutionContext, w: World, ...args: readonly string[]) {
  const child = await startLauncher(t, w, ['events', 'tail', w.org.id, ...args])
  const lines: string[] = []
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line))
  const ended = once(child, 'exit')
  return {
    read: async (count: number) => {
      await numberEvents(w)
      await eventually(() => lines.length >= count, 20_000)
      return lines.map((line) => JSON.parse(line))
    },
    /** Reads no more, as `head` after its lines; resolves with the end of the process. */
    leave: () => {
      child.stdout.destroy()
      return ended
    },
    stop: async () => {
      child.kill('SIGINT')
      return ended
    },
  }
}

test('events: tail prints each event as a line without values, goes on after a number, and ends by an interruption', async (t) => {
  const w = await shared()
  const { owner, path, id: orgId } = w.org
  const after = await lastSeq(w)
  const { id } = (await owner.post(`${path}/records/locations`, { values: { name: 'planted' } })).data
  const first = await tail(t, w, `--after=${after}`)
  const [created] = await first.read(1)
  t.like(created, {
    seq: after + 1,
    type: 'records.created',
    subject: { object_type: 'locations', id },
    data: { view: 'entered', before: null, after: { name: '[hidden]' }, changed: ['name'] },
  })
  await owner.post(`${path}/types`, { key: 'visits', label: 'Visits' })
  await owner.put(`${path}/records/locations/${id}/values`, { values: { name: 'planted too' } })
  const events = await first.read(3)
  t.deepEqual(
    events.map(({ seq, type }) => [seq - after, type]),
    [
      [1, 'records.created'],
      [2, 'types.changed'],
      [3, 'records.updated'],
    ],
  )
  t.deepEqual(events[1].data, { change: 'created', fields: [] })
  t.deepEqual(events[2].data, { view: 'changed', before: { name: '[hidden]' }, after: { name: '[hidden]' }, changed: ['name'] })
  t.deepEqual(await first.stop(), [0, null])
  const { feed } = (await owner.get(`${path}/events`)).data
  const again = await tail(t, w, '--json', `--after=${feed}:${after + 1}`, '--types=records.*')
  t.deepEqual(
    (await again.read(1)).map(({ seq }) => seq - after),
    [3],
  )
  t.deepEqual(await again.stop(), [0, null])
  t.not(orgId, feed)
})

test('events: tail hides the titles of calendar events', async (t) => {
  const w = await shared()
  const calendar = await makeCalendar(t, w)
  const after = await lastSeq(w)
  await makeEvent(t, w, { calendar_id: calendar.id, title: 'planted', visibility: 'private' })
  const tailed = await tail(t, w, `--after=${after}`, '--types=calendar.*')
  const [created] = await tailed.read(1)
  t.like(created, { seq: after + 1, type: 'calendar.event.created', data: { title: '[hidden]', all_day: false, status: 'confirmed' } })
  t.false(JSON.stringify(created).includes('planted'))
  t.deepEqual(await tailed.stop(), [0, null])
})

test('events: tail ends when its reader has enough', async (t) => {
  const w = await shared()
  const { owner, path } = w.org
  const after = await lastSeq(w)
  const make = () => owner.post(`${path}/records/locations`, { values: { name: 'one' } })
  await make()
  const tailed = await tail(t, w, `--after=${after}`)
  await tailed.read(1)
  const ended = tailed.leave()
  await make()
  await numberEvents(w)
  t.deepEqual(await ended, [0, null])
})

test('events: tail begins with the next event', async (t) => {
  const w = await shared()
  const { owner, path } = w.org
  await owner.post(`${path}/records/locations`, { values: { name: 'before' } })
  await numberEvents(w)
  const tailed = await tail(t, w)
  // The process says nothing until an event comes, so events are made until it tells one.
  const [event] = await eventually(async () => {
    await owner.post(`${path}/types`, { key: `after_${Date.now()}`, label: 'After' })
    const events = await tailed.read(0)
    return events.length > 0 && events
  }, 20_000)
  t.is(event.type, 'types.changed')
  t.deepEqual(await tailed.stop(), [0, null])
})

test('events: tail refuses what is wrong with code 2, and an unknown workspace with code 1', async (t) => {
  const w = await shared()
  const last = await lastSeq(w)
  for (const [message, ...args] of [
    [/workspace/],
    [/after is ahead of the list/, w.org.id, `--after=${last + 1}`],
    [/after must be next_after/, w.org.id, '--after=x'],
    [/there is no type "records.changed"/, w.org.id, '--types=records.changed'],
  ] as const) {
    const { code, err, out } = await callKontor(w, 'events', 'tail', ...args)
    t.deepEqual([code, out], [2, ''])
    t.regex(err, message)
    t.regex(err, /Usage: .*events tail/)
  }
  const { code, json } = await callKontor(w, 'events', 'tail', 'Nowhere', '--json')
  t.deepEqual([code, json.error.code], [1, 'NOT_FOUND'])
})
