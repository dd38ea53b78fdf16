import test, { type ExecutionContext } from 'ava'
import { firstSpaces, formOf, makeSpace, spaceOf } from '#test/features/drive/support.ts'
import { atOnce, openArena, type Ring, rounds, tally } from '#test/races/arena.ts'
import { readDriveFigures } from '#test/races/rows.ts'
import type { Client } from '#test/support/client.ts'

const arena = openArena(test, { FREE_FILE_BYTES: '100', FREE_SPACES: '3' })

/** The shared space of a ring, for a caller at either process. */
async function sharedOf(ring: Ring) {
  const { shared } = await firstSpaces(ring.owner, ring)
  return (client: Client) => spaceOf(client, ring, shared)
}

/** Bytes, totals and the plan's counter agree: each file holds one blob, and all counts are right. */
async function requireRightCounts(t: ExecutionContext, { id }: Ring): Promise<void> {
  const figures = await readDriveFigures(arena.world().db, id)
  if (!figures) return t.fail()
  const { bytes, files, ...counts } = figures
  t.deepEqual(counts, { totals: bytes, usage: bytes, counted: files, held: files, doubled: 0 })
}

test('drive: 20 uploads to one key make one file with the bytes of one of them', async (t) => {
  const ring = await arena.ring()
  const space = await sharedOf(ring)
  for (let round = 0; round < rounds; round++) {
    const bytes = (index: number) => `upload ${index} `.repeat(index + 1)
    const answers = await atOnce(20, ring.owners, (client, index) => space(client).put(`key ${round}`, bytes(index)))
    t.deepEqual(tally(answers), { 200: 19, 201: 1 })
    const { text, headers } = await space(ring.owner).download(`key ${round}`)
    const index = Number(/^upload (\d+)/.exec(text)?.[1])
    t.is(text, bytes(index))
    t.is(headers.get('etag'), `"${answers[index]?.data.sha256}"`)
  }
  await requireRightCounts(t, ring)
})

test('drive: exactly 10 of 20 files of 10 bytes fit into 100 bytes', async (t) => {
  for (let round = 0; round < rounds; round++) {
    const ring = await arena.ring('free')
    const space = await sharedOf(ring)
    const answers = await atOnce(20, ring.owners, (client, index) => space(client).put(String(index), 'x'.repeat(10)))
    t.deepEqual(tally(answers), { 201: 10, 402: 10 })
    await requireRightCounts(t, ring)
  }
})

test('drive: exactly three of 20 spaces fit into the free plan', async (t) => {
  for (let round = 0; round < rounds; round++) {
    const ring = await arena.ring('free')
    const make = (client: Client, index: number) => client.post(`${ring.path}/drive/buckets`, { key: `space-${index}`, name: 'Space' })
    t.deepEqual(tally(await atOnce(20, ring.owners, make)), { 201: 3, 402: 17 })
  }
})

test('drive: a main drive and a shared space are created once', async (t) => {
  for (let round = 0; round < rounds; round++) {
    const ring = await arena.ring()
    const answers = await atOnce(20, ring.owners, (client) => client.get(`${ring.path}/drive/buckets`))
    t.is(new Set(answers.map(({ text }) => JSON.stringify(JSON.parse(text).data))).size, 1)
    t.is(answers[0]?.data.buckets.length, 2)
  }
})

test('drive: uploads, moves and deletions of the same few keys leave every count right', async (t) => {
  const ring = await arena.ring()
  const space = await sharedOf(ring)
  const keys = ['a/x', 'a/y', 'b/x', 'b/y']
  const pick = (index: number) => keys[index % keys.length] ?? ''
  for (let round = 0; round < rounds; round++) {
    const answers = await atOnce(20, ring.owners, (client, index) => {
      const here = space(client)
      const calls = [
        () => here.put(pick(index), 'x'.repeat(index)),
        () => here.move(pick(index), pick(index + 1 + round)),
        () => here.remove(pick(index)),
        () => here.move(index % 2 === 0 ? 'a/' : 'b/', index % 2 === 0 ? 'b/' : 'a/'),
      ]
      return (calls[(index + round) % calls.length] ?? calls[0])?.() ?? here.list()
    })
    t.deepEqual(
      answers.filter(({ status }) => ![200, 201, 400, 404, 409].includes(status)).map(({ text }) => text),
      [],
    )
  }
  await requireRightCounts(t, ring)
})

test('drive: readers see a folder that is renamed completely in one place', async (t) => {
  const ring = await arena.ring()
  const space = await sharedOf(ring)
  for (let index = 0; index < 30; index++) await space(ring.owner).put(`0/${index}`, 'x')
  for (let round = 0; round < rounds; round++) {
    const answers = await atOnce(20, ring.owners, async (client, index) => {
      if (index === 7) return (await space(client).move(`${round}/`, `${round + 1}/`)).data
      return (await space(client).list({ prefix: `${round}/` })).data.objects.length
    })
    t.deepEqual(answers[7], { moved: 30 })
    t.true(answers.every((count, index) => index === 7 || count === 0 || count === 30))
  }
})

test('drive: a space that is deleted while files arrive is empty and deleted, or stays with them', async (t) => {
  const ring = await arena.ring()
  for (let round = 0; round < rounds; round++) {
    const id = await makeSpace(ring.owner, ring, `space-${round}`)
    const answers = await atOnce(20, ring.owners, (client, index) => {
      const space = spaceOf(client, ring, id)
      return index === 10 ? client.delete(space.path) : space.put(String(index), 'x')
    })
    const deleted = answers[10]?.status === 204
    const uploads = answers.filter((_, index) => index !== 10)
    t.true(uploads.every(({ status }) => status === 201 || status === 404))
    if (deleted) t.true(uploads.every(({ status }) => status === 404))
    else t.is(answers[10]?.status, 400)
    t.is((await spaceOf(ring.owner, ring, id).list()).status, deleted ? 404 : 200)
  }
  await requireRightCounts(t, ring)
})

test('drive: an upload that is sent 20 times with one Idempotency-Key is done once', async (t) => {
  const ring = await arena.ring()
  const space = await sharedOf(ring)
  for (let round = 0; round < rounds; round++) {
    const send = (client: Client) =>
      client.post(`${space(client).path}/objects`, formOf(`once ${round}`, 'x'), { 'idempotency-key': `round ${round}` })
    const answers = await atOnce(20, ring.owners, send)
    t.deepEqual(tally(answers), { 201: 20 })
    t.is(new Set(answers.map(({ data }) => JSON.stringify(data))).size, 1)
  }
  await requireRightCounts(t, ring)
})
