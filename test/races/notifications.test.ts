import test from 'ava'
import { atOnce, made, openArena, type Ring, rounds, tally } from '#test/races/arena.ts'
import { type Caller, createMember } from '#test/support/factories.ts'
import { addMember } from '#test/support/rows.ts'

const arena = openArena(test)

const makeRule = (ring: Ring, event: string) =>
  made(ring.owner.post(`${ring.path}/notification-rules`, { name: event, object_type: 'locations', event, title: event }))

/** The whole inbox of a caller, and its number of unread items. */
async function inboxOf(ring: Ring, { client }: Pick<Caller, 'client'>) {
  const items = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = await made(client.get(`${ring.path}/notifications?limit=100${cursor && `&cursor=${cursor}`}`))
    items.push(...page.notifications)
    cursor = page.next_cursor
  }
  return { items, unread: (await made(client.get(`${ring.path}/notifications/unread-count`))).count as number }
}

test('notifications: changes of many records at once make one item each for every member and rule', async (t) => {
  const ring = await arena.ring()
  const w = arena.world()
  const members = [{ client: ring.owner }, await createMember(w, ring), await createMember(w, ring)]
  for (const event of ['created', 'updated', 'deleted']) await makeRule(ring, event)
  const records = `${ring.path}/records/locations`
  for (let round = 0; round < rounds; round++) {
    await atOnce(10, ring.owners, async (client, index) => {
      const { id } = await made(client.post(records, { values: { name: `${round} ${index}` } }))
      await Promise.all([made(client.put(`${records}/${id}/values`, { values: { address: 'x' } })), client.get(`${records}/${id}`)])
      await made(client.delete(`${records}/${id}`))
    })
  }
  await w.drain()
  for (const member of members) {
    const { items, unread } = await inboxOf(ring, member)
    t.is(items.length, 3 * 10 * rounds)
    t.is(new Set(items.map(({ record_id, event }) => `${record_id} ${event}`)).size, items.length)
    t.is(unread, items.length)
  }
})

test('notifications: an item that is marked repeatedly keeps its first time, and marking all at once leaves none unread', async (t) => {
  const ring = await arena.ring()
  await makeRule(ring, 'created')
  const inbox = `${ring.path}/notifications`
  for (let round = 0; round < rounds; round++) {
    await atOnce(6, ring.owners, (client) => made(client.post(`${ring.path}/records/locations`, { values: { name: 'x' } })))
    await arena.world().drain()
    const { items } = await inboxOf(ring, { client: ring.owner })
    const [newest] = items
    await made(ring.owner.post(`${inbox}/read/${newest.id}`))
    const { read_at } = (await inboxOf(ring, { client: ring.owner })).items[0]
    const answers = await atOnce(20, ring.owners, (client, index) =>
      index % 4 < 2 ? client.post(`${inbox}/read/${items[index % 6].id}`) : client.post(`${inbox}/read-all`),
    )
    t.deepEqual(tally(answers), { 204: 20 })
    const after = await inboxOf(ring, { client: ring.owners[1] })
    t.is(after.unread, 0)
    t.is(after.items.find(({ id }) => id === newest.id).read_at, read_at)
  }
})

test('notifications: a member who is removed during deliveries has no item after returning', async (t) => {
  const ring = await arena.ring()
  const w = arena.world()
  await makeRule(ring, 'created')
  const member = await createMember(w, ring)
  for (let round = 0; round < rounds; round++) {
    await Promise.all([
      atOnce(8, ring.owners, (client) => made(client.post(`${ring.path}/records/locations`, { values: { name: 'x' } }))),
      made(ring.owners[1].delete(`${ring.path}/members/${member.id}`)),
    ])
    await w.drain()
    await addMember(w.db, ring.id, member.id)
    t.deepEqual(await inboxOf(ring, member), { items: [], unread: 0 })
  }
})
