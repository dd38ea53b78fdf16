import { randomUUID } from 'node:crypto'
import test from 'ava'
import { inboxOf, locationsOf, makeRule } from '#test/core/notifications/make-rule.ts'
import { createMember, createOrg, createService } from '#test/support/factories.ts'
import { lockTable } from '#test/support/locks.ts'
import { addMember } from '#test/support/rows.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const newWorkspace = shareWorld(test)

test('inbox: a change puts one item into the inbox of every member, including the actor, whatever the member may read', async (t) => {
  const w = await newWorkspace()
  const member = await createMember(w, w.org)
  const service = await createService(w, w.org, [{ effect: 'allow', actions: ['*'] }])
  for (const event of ['created', 'updated', 'deleted']) await makeRule(w, { event, title: `It was ${event}` })
  const { id } = (await w.org.owner.post(locationsOf(w), { values: { name: 'x' } })).data
  await w.org.owner.put(`${locationsOf(w)}/${id}/values`, { values: { name: 'y' } })
  await w.org.owner.put(`${locationsOf(w)}/${id}/values`, { values: { name: 'y' } })
  await service.client.delete(`${locationsOf(w)}/${id}`)
  await w.drain()
  for (const client of [w.org.owner, member.client]) {
    const { data } = await client.get(inboxOf(w))
    t.is(data.next_cursor, null)
    t.deepEqual(
      data.notifications.map(({ id: _, created_at: __, ...item }: Record<string, unknown>) => item),
      ['deleted', 'updated', 'created'].map((event) => ({
        title: `It was ${event}`,
        object_type: 'locations',
        record_id: id,
        event,
        read: false,
      })),
    )
    t.deepEqual((await client.get(`${inboxOf(w)}/unread-count`)).data, { count: 3 })
  }
  t.deepEqual((await service.client.get(inboxOf(w))).data, { notifications: [], next_cursor: null })
  t.deepEqual((await service.client.get(`${inboxOf(w)}/unread-count`)).data, { count: 0 })
  t.is((await service.client.post(`${inboxOf(w)}/read-all`)).status, 204)
})

test('inbox: read marks one item and read-all the rest, and a member cannot mark items of others', async (t) => {
  const w = await newWorkspace()
  const member = await createMember(w, w.org)
  await makeRule(w)
  for (const name of ['a', 'b', 'c']) await w.org.owner.post(locationsOf(w), { values: { name } })
  await w.drain()
  const { owner } = w.org
  const [item] = (await owner.get(inboxOf(w))).data.notifications
  const marks = await Promise.all(Array.from({ length: 20 }, () => owner.post(`${inboxOf(w)}/read/${item.id}`)))
  t.deepEqual([...new Set(marks.map(({ status }) => status))], [204])
  const [read] = (await owner.get(inboxOf(w))).data.notifications
  t.like(read, { id: item.id, read: true })
  t.is((await owner.post(`${inboxOf(w)}/read/${item.id}`)).status, 204)
  t.is((await owner.get(inboxOf(w))).data.notifications[0].read_at, read.read_at)
  t.is((await owner.get(`${inboxOf(w)}?unread=true`)).data.notifications.length, 2)
  t.is((await owner.get(`${inboxOf(w)}?unread=false`)).data.notifications.length, 3)
  for (const id of [item.id, randomUUID(), 'nonsense']) t.is((await member.client.post(`${inboxOf(w)}/read/${id}`)).status, 404)
  const all = await Promise.all(Array.from({ length: 20 }, () => owner.post(`${inboxOf(w)}/read-all`)))
  t.deepEqual([...new Set(all.map(({ status }) => status))], [204])
  t.is((await owner.get(`${inboxOf(w)}/unread-count`)).data.count, 0)
  t.is((await owner.get(inboxOf(w))).data.notifications[0].read_at, read.read_at)
  t.is((await member.client.get(`${inboxOf(w)}/unread-count`)).data.count, 3)
})

test('inbox: an inbox pages by cursor without gap or repeat, newest first', async (t) => {
  const w = await newWorkspace()
  await makeRule(w)
  const made: string[] = []
  for (let index = 0; index < 11; index++) made.push((await w.org.owner.post(locationsOf(w), { values: { name: `${index}` } })).data.id)
  await w.drain()
  const seen: string[] = []
  let cursor: string | null = ''
  do {
    const { data } = await w.org.owner.get(`${inboxOf(w)}?limit=4${cursor && `&cursor=${cursor}`}`)
    seen.push(...data.notifications.map((item: { record_id: string }) => item.record_id))
    cursor = data.next_cursor
  } while (cursor)
  t.deepEqual(seen, made.toReversed())
  t.is((await w.org.owner.get(`${inboxOf(w)}?limit=11`)).data.next_cursor, null)
  const { next_cursor } = (await w.org.owner.get(`${inboxOf(w)}?limit=1`)).data
  const member = await createMember(w, w.org)
  t.is((await member.client.get(`${inboxOf(w)}?cursor=${next_cursor}`)).status, 400)
  t.is((await w.org.owner.get(`${inboxOf(w)}?unread=true&cursor=${next_cursor}`)).status, 400)
  for (const query of ['cursor=x', 'cursor=', `cursor=${next_cursor}x`, 'limit=0', 'limit=101', 'limit=1.5', 'limit=', 'unread=yes']) {
    const answer = await w.org.owner.get(`${inboxOf(w)}?${query}`)
    t.is(answer.status, 400, query)
    t.true(answer.body.error.message.startsWith(query.split('=')[0] ?? ''), answer.text)
  }
  t.is((await w.org.owner.get(`${inboxOf(w)}?limit=100`)).status, 200)
})

test('inbox: a new member gets no earlier items, and a removed member keeps none', async (t) => {
  const w = await newWorkspace()
  const leaver = await createMember(w, w.org)
  await makeRule(w)
  const lock = await lockTable(t, w.db, 'notification_rules')
  await w.org.owner.post(locationsOf(w), { values: { name: 'x' } })
  const joiner = await createMember(w, w.org)
  await lock.release()
  await w.drain()
  t.is((await joiner.client.get(`${inboxOf(w)}/unread-count`)).data.count, 0)
  t.is((await leaver.client.get(`${inboxOf(w)}/unread-count`)).data.count, 1)
  t.is((await w.org.owner.delete(`${w.org.path}/members/${leaver.id}`)).status, 204)
  t.is((await leaver.client.get(inboxOf(w))).status, 404)
  await addMember(w.db, w.org.id, leaver.id)
  t.is((await leaver.client.get(`${inboxOf(w)}/unread-count`)).data.count, 0)
})

test('inbox: inboxes of two workspaces are separate', async (t) => {
  const w = await newWorkspace()
  const other = await createOrg(w, 'Other')
  await addMember(w.db, other.id, w.org.ownerId)
  const id = await makeRule(w)
  await w.org.owner.post(locationsOf(w), { values: { name: 'x' } })
  await other.owner.post(`${other.path}/records/locations`, { values: { name: 'x' } })
  await w.drain()
  const [item] = (await w.org.owner.get(inboxOf(w))).data.notifications
  t.is((await w.org.owner.get(`${other.path}/notifications/unread-count`)).data.count, 0)
  t.is((await w.org.owner.post(`${other.path}/notifications/read/${item.id}`)).status, 404)
  t.is((await other.owner.get(`${other.path}/notification-rules/${id}`)).status, 404)
  t.deepEqual((await other.owner.get(`${other.path}/notification-rules`)).data, [])
  t.is((await other.owner.get(inboxOf(w))).status, 404)
  t.is((await w.visitor.get(inboxOf(w))).status, 401)
})
