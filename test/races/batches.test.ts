import test from 'ava'
import { atOnce, made, makeType, openArena, rounds, tally, totalOf } from '#test/races/arena.ts'
import type { Client } from '#test/support/client.ts'

const arena = openArena(test)

const five = [0, 1, 2, 3, 4]
/** The items rotated by a number, every other time reversed. */
const turned = <T>(items: readonly T[], by: number): readonly T[] => {
  const start = by % items.length
  const turned = [...items.slice(start), ...items.slice(0, start)]
  return by % 2 === 0 ? turned : turned.reverse()
}

interface Operation {
  readonly op: string
  readonly [rest: string]: unknown
}

const send = (client: Client, records: string, operations: readonly Operation[]) =>
  client.post(`${records}/batch`, { operations, atomic: true })

test('batches: batches that change the same records in other orders are all made', async (t) => {
  const ring = await arena.ring()
  const { records } = await makeType(ring, 'parts', { note: {} })
  const ids = await Promise.all(five.map(async () => (await made(ring.owner.post(records))).id as string))
  for (let round = 0; round < rounds; round++) {
    const answers = await atOnce(8, ring.owners, (client, index) =>
      send(
        client,
        records,
        turned(ids, index).map((id) => ({ op: 'update', id, values: { note: `${round} ${index}` } })),
      ),
    )
    t.deepEqual(tally(answers), { 200: 8 })
    const { data } = await ring.owner.get(records)
    t.is(
      new Set(data.records.map(({ values }: { values: { note: string } }) => values.note)).size,
      1,
      'the last batch is stored completely',
    )
  }
})

test('batches: upserts of the same values in other orders create each record once and change it by all the others', async (t) => {
  const ring = await arena.ring()
  const { records } = await makeType(ring, 'parts', { code: { unique: true }, note: {} })
  for (let round = 0; round < rounds; round++) {
    const codes = five.map((number) => `${round} ${number}`)
    const answers = await atOnce(8, ring.owners, (client, index) =>
      send(
        client,
        records,
        turned(codes, index).map((code) => ({ op: 'upsert', by: 'code', values: { code, note: `${index}` } })),
      ),
    )
    t.deepEqual(tally(answers), { 200: 8 })
    const results = answers.flatMap(({ data }) => data.results)
    t.deepEqual(tally(results), { 200: 35, 201: 5 })
  }
  t.is(await totalOf(ring, records), rounds * 5)
})

test('batches: batches succeed while fields are added and deleted, with an Idempotency-Key too', async (t) => {
  const ring = await arena.ring()
  const { records } = await makeType(ring, 'parts', { note: {} })
  let isDone = false
  const write = async (client: Client, writer: number) => {
    const answers = []
    for (let call = 0; !isDone; call++) {
      const operations = five.map((number) => ({ op: 'create', values: { note: `${writer} ${call} ${number}` } }))
      const headers: Record<string, string> = writer % 4 < 2 ? {} : { 'idempotency-key': `${writer} ${call}` }
      answers.push(await client.post(`${records}/batch`, { operations }, headers))
    }
    return answers
  }
  const writing = atOnce(6, ring.owners, write)
  for (let round = 0; round < rounds; round++) {
    const field = { entity_type: 'parts', key: 'more', label: 'More', type: 'string', rules: { default: 'x' } }
    const { id } = await made(ring.owner.post(`${ring.path}/fields`, field))
    await made(ring.owners[1].delete(`${ring.path}/fields/${id}`))
  }
  isDone = true
  const answers = (await writing).flat()
  t.deepEqual(Object.keys(tally(answers)), ['200'])
  t.deepEqual(Object.keys(tally(answers.flatMap(({ data }) => data.results))), ['201'])
  t.is(await totalOf(ring, records), answers.length * 5)
})
