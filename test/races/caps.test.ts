import test from 'ava'
import { atOnce, made, makeType, openArena, rounds, tally, totalOf } from '#test/races/arena.ts'
import { createAccount, fromAnywhere, password } from '#test/support/account.ts'
import type { Client } from '#test/support/client.ts'
import { mailedToken } from '#test/support/mailbox.ts'

const arena = openArena(test, { FREE_RECORDS: '100', FREE_MEMBERS: '4', TRUST_PROXY: '1' })

test('caps: 100 of 200 creations under a cap of 100 records succeed', async (t) => {
  const ring = await arena.ring('free')
  const { records } = await makeType(ring, 'parts', { note: {} })
  t.deepEqual(tally(await atOnce(200, ring.owners, (client) => client.post(records))), { 201: 100, 402: 100 })
  t.is(await totalOf(ring, records), 100)
})

/** Ways to create up to three records at once, with the number that the response reports. */
const ways: readonly ((client: Client, records: string) => Promise<number>)[] = [
  async (client, records) => ((await client.post(records)).status === 201 ? 1 : 0),
  async (client, records) => (await made(client.post(`${records}/import`, 'note\na\nb\nc\n', { 'content-type': 'text/csv' }))).created,
  async (client, records) => {
    const operations = [{ op: 'create' }, { op: 'create' }, { op: 'create' }]
    const { results } = await made(client.post(`${records}/batch`, { operations }))
    return results.filter(({ status }: { status: number }) => status === 201).length
  },
]

test('caps: creations, imports and batches of two types use up one cap exactly, and deletions make room', async (t) => {
  const ring = await arena.ring('free')
  const types = [await makeType(ring, 'parts', { note: {} }), await makeType(ring, 'wholes', { note: {} })].map(({ records }) => records)
  const kept = async () => (await totalOf(ring, types[0] ?? '')) + (await totalOf(ring, types[1] ?? ''))
  await made(ring.owner.post(`${types[0]}/batch`, { operations: Array.from({ length: 90 }, () => ({ op: 'create' })) }))
  for (let round = 0; round < rounds; round++) {
    const counts = await atOnce(12, ring.owners, (client, index) => ways[index % 3]?.(client, types[index % 2] ?? '') ?? Promise.resolve(0))
    t.is(
      counts.reduce((sum, count) => sum + count, 0),
      10,
    )
    t.is(await kept(), 100)
    const lists = await Promise.all(types.map(async (records) => (await ring.owner.get(`${records}?limit=10`)).data.records))
    const paths = lists.flatMap((list, index) => list.map(({ id }: { id: string }) => `${types[index]}/${id}`)).slice(0, 10)
    const deleted = await atOnce(20, ring.owners, (client, index) => client.delete(paths[index % 10] ?? ''))
    t.deepEqual(tally(deleted), { 204: 10, 404: 10 })
  }
  const listed = (await ring.owner.get(`${ring.path}/types`)).data as readonly { record_count: number }[]
  t.is(
    listed.reduce((sum, { record_count }) => sum + record_count, 0),
    90,
  )
})

test('caps: three of 20 invitations under a cap of four members succeed', async (t) => {
  for (let round = 0; round < rounds; round++) {
    const ring = await arena.ring('free')
    const answers = await atOnce(20, ring.owners, (client, index) =>
      client.post(`${ring.path}/members`, { email: `${index}-${ring.id}@example.com` }),
    )
    t.deepEqual(tally(answers), { 201: 3, 402: 17 })
    t.is((await ring.owner.get(`${ring.path}/invitations`)).data.length, 3)
  }
})

test('caps: an invitation that many accept and one takes back has one new member or none', async (t) => {
  await arena.open()
  const w = arena.world()
  const visitors = arena.pair(w.visitor)
  for (let round = 0; round < rounds / 4; round++) {
    const ring = await arena.ring()
    const { email } = await createAccount(w)
    const { id } = await made(ring.owner.post(`${ring.path}/members`, { email }))
    const token = await mailedToken(w, email)
    const [accepted, withdrawn] = await Promise.all([
      atOnce(6, visitors, (client) => client.post('/v1/auth/accept-invite', { token, name: 'Ann', password }, fromAnywhere())),
      ring.owners[1].delete(`${ring.path}/invitations/${id}`),
    ])
    const joined = accepted.filter(({ status }) => status === 200).length
    t.is(joined, withdrawn.status === 204 ? 0 : 1)
    t.is((await ring.owner.get(`${ring.path}/members`)).data.length, 1 + joined)
    t.deepEqual((await ring.owner.get(`${ring.path}/invitations`)).data, [])
  }
})
