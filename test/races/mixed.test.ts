import test from 'ava'
import { atOnce, made, makeType, openArena, type Ring, rounds } from '#test/races/arena.ts'
import type { Client } from '#test/support/client.ts'

const arena = openArena(test)

interface Place {
  readonly records: string
  readonly ids: readonly string[]
  /** A different number for every call, from 0. */
  readonly number: number
}

const some = <T>(items: readonly T[], number: number): T | undefined => items[(number * 7) % items.length]
const values = ({ number }: Pick<Place, 'number'>) => ({ one: `a${number % 5}`, other: `b${(number * 3) % 5}`, note: `${number}` })
const csv = { 'content-type': 'text/csv' }

/** Ways to change records whose two unique fields have five values each, so that callers conflict. */
const ways: readonly ((client: Client, place: Place) => ReturnType<Client['post']>)[] = [
  (client, place) => client.post(place.records, { values: values(place) }),
  (client, place) => client.put(`${place.records}/${some(place.ids, place.number)}/values`, { values: values(place) }),
  (client, place) => client.put(`${place.records}/${some(place.ids, place.number)}/values`, { values: { one: null, note: 'cleared' } }),
  (client, place) => client.delete(`${place.records}/${some(place.ids, place.number)}`),
  (client, place) => client.post(place.records, { values: values(place) }, { 'idempotency-key': `${Math.floor(place.number / 14)}` }),
  (client, { records, number }) => {
    const rows = [0, 1, 2].map((row) => Object.values(values({ number: number + row })).join(','))
    return client.post(`${records}/import`, `one,other,note\n${rows.join('\n')}\n`, csv)
  },
  (client, { records, ids, number }) => {
    const operations = [
      { op: 'upsert', by: 'one', values: values({ number }) },
      { op: 'create', values: values({ number: number + 1 }) },
      { op: 'update', id: some(ids, number), values: values({ number: number + 2 }) },
      { op: 'delete', id: some(ids, number + 1) },
    ]
    return client.post(`${records}/batch`, { operations })
  },
]

interface Entry {
  readonly action: string
  readonly record_id: string
  readonly after: Readonly<Record<string, unknown>> | null
}

/** The values of every record by the audit, by id. */
async function toldBy({ owner, path }: Ring): Promise<Record<string, unknown>> {
  const entries: Entry[] = []
  for (let page = []; page.length === 200 || entries.length === 0; entries.push(...page)) {
    page = (await made(owner.get(`${path}/audit?object_type=parts&limit=200&offset=${entries.length}`))).entries
    if (page.length === 0) break
  }
  const records: Record<string, Record<string, unknown>> = {}
  for (const { action, record_id, after } of entries.reverse()) {
    if (action === 'record.deleted') delete records[record_id]
    else records[record_id] = Object.fromEntries(Object.entries({ ...records[record_id], ...after }).filter(([, value]) => value !== null))
  }
  return records
}

test('mixed: mixed calls at once all succeed, and the records match the audit', async (t) => {
  const ring = await arena.ring()
  const { records } = await makeType(ring, 'parts', { one: { unique: true }, other: { unique: true }, note: {} })
  for (let round = 0; round < rounds; round++) {
    const listed = (await made(ring.owner.get(`${records}?limit=200`))).records as readonly { id: string }[]
    const ids = listed.length === 0 ? ['none'] : listed.map(({ id }) => id)
    const answers = await atOnce(28, ring.owners, async (client, index) => {
      const number = round * 28 + index
      const answer = await ways[number % ways.length]?.(client, { records, ids, number })
      return { status: answer?.status ?? 0, text: answer?.text }
    })
    for (const { status, text } of answers) t.true([200, 201, 204, 400, 404, 409].includes(status), `${status} ${text}`)
  }
  await arena.world().drain()
  const { records: kept } = await made(ring.owner.get(`${records}?limit=200`))
  const present = Object.fromEntries(
    kept.map(({ id, values }: { id: string; values: object }) => [
      id,
      Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null)),
    ]),
  )
  t.deepEqual(await toldBy(ring), present)
  t.is((await made(ring.owner.get(`${ring.path}/types`))).at(-1).record_count, kept.length)
})
