import test from 'ava'
import { atOnce, made, makeType, openArena, type Ring, rounds, tally, totalOf } from '#test/races/arena.ts'
import type { Client } from '#test/support/client.ts'

const arena = openArena(test)

const filterOf = (value: string) => `filter=${encodeURIComponent(JSON.stringify([{ field: 'code', op: 'eq', value }]))}`

test('unique: of 100 equal creations one succeeds and 99 are refused', async (t) => {
  const ring = await arena.ring()
  const { records } = await makeType(ring, 'parts', { code: { unique: true } })
  for (let round = 0; round < rounds; round++) {
    const answers = await atOnce(100, ring.owners, (client) => client.post(records, { values: { code: `c${round}` } }))
    t.deepEqual(tally(answers), { 201: 1, 409: 99 })
  }
  t.is(await totalOf(ring, records), rounds)
})

test('unique: equal numbers in different spellings make one record', async (t) => {
  const ring = await arena.ring()
  const { records } = await makeType(ring, 'parts', { code: { type: 'number', unique: true } })
  for (let round = 1; round <= rounds; round++) {
    const forms = [round, `${round}.0`, `${round}.000000`, `+${round}`]
    const answers = await atOnce(20, ring.owners, (client, index) =>
      client.post(records, { values: { code: forms[index % forms.length] } }),
    )
    t.deepEqual(tally(answers), { 201: 1, 409: 19 })
  }
})

/** The ways to claim a value of the unique field, each with its own note: the call, and whether its response reports success. */
const claims: Readonly<Record<string, (client: Client, place: Place) => Promise<boolean>>> = {
  create: async (client, { records, values }) => (await expected(client.post(records, { values }), [201, 409])) === 201,
  update: async (client, { records, other, values }) =>
    (await expected(client.put(`${records}/${other}/values`, { values }), [204, 409])) === 204,
  import: async (client, { records, values }) =>
    (await made(client.post(`${records}/import`, `code,note\n${values.code},${values.note}\n`, { 'content-type': 'text/csv' }))).created ===
    1,
  batch: async (client, { records, values }) =>
    (await made(client.post(`${records}/batch`, { operations: [{ op: 'create', values }] }))).results[0].status === 201,
  upsert: async (client, { records, values }) =>
    (await made(client.post(`${records}/batch`, { operations: [{ op: 'upsert', by: 'code', values }] }))).results[0].status === 201,
  function: async (client, { fn, values }) => (await made(client.post(`${fn}/invoke`, { input: values }))).result === 'made',
}

interface Place {
  readonly records: string
  readonly fn: string
  /** A record without a value of the field. */
  readonly other: string
  readonly values: { readonly code: string; readonly note: string }
}

async function expected(answer: Promise<{ readonly status: number; readonly text: string }>, statuses: readonly number[]): Promise<number> {
  const { status, text } = await answer
  if (!statuses.includes(status)) throw new Error(`${status} ${text}`)
  return status
}

const source = `async function handler(values) {
  try { await sdk.records.create('parts', values); return 'made' } catch (error) { return error.code }
}`

test('unique: a value that creations, updates, imports, batches, upserts and functions claim at once goes to one of them', async (t) => {
  const ring = await arena.ring()
  const { records } = await makeType(ring, 'parts', { code: { unique: true }, note: {} })
  const { id } = await made(ring.owner.post(`${ring.path}/functions`, { name: 'Claim', source }))
  const fn = `${ring.path}/functions/${id}`
  for (let round = 0; round < rounds; round++) {
    const code = `c${round}`
    const winners = await claimAll(ring, { records, fn }, code)
    t.is(winners.length, 1, `${code}: ${winners.join(', ')}`)
    t.is(await totalOf(ring, records, filterOf(code)), 1)
  }
  await arena.world().drain()
  t.is((await ring.owner.get(`${ring.path}/types`)).data.at(-1).record_count, await totalOf(ring, records))
})

/** Claims a value in every way three times at once, and returns the ways that succeeded. */
async function claimAll(ring: Ring, place: Pick<Place, 'records' | 'fn'>, code: string): Promise<string[]> {
  const ways = Object.entries(claims).flatMap((way) => [way, way, way])
  const others = await Promise.all(ways.map(async () => (await made(ring.owner.post(place.records))).id as string))
  const got = await atOnce(ways.length, ring.owners, async (client, index) => {
    const [name, claim] = ways[index] as (typeof ways)[number]
    const values = { code, note: `${name} ${index}` }
    return (await claim(client, { ...place, other: others[index] ?? '', values })) ? name : undefined
  })
  return got.filter((name) => name !== undefined)
}
