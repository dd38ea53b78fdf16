import test from 'ava'
import { atOnce, made, makeType, openArena, rounds, tally, totalOf } from '#test/races/arena.ts'

const arena = openArena(test)

const filter = [{ field: 'stage', op: 'eq', value: 'new' }]

/** The number of a workspace's audit entries of an action. */
const entriesOf = async ({ owner, path }: Awaited<ReturnType<typeof arena.ring>>, action: string): Promise<number> =>
  (await made(owner.get(`${path}/audit?action=${action}&limit=1`))).total

const sum = (answers: readonly { readonly data: { readonly changed: number } }[]): number =>
  answers.reduce((all, { data }) => all + data.changed, 0)

test('matching: each record is changed by one of 20 calls for the same filter, beside single changes', async (t) => {
  const ring = await arena.ring()
  const { records } = await makeType(ring, 'parts', { stage: {}, note: {} })
  let written = 0
  for (let round = 0; round < rounds; round++) {
    const operations = Array.from({ length: 12 }, () => ({ op: 'create', values: { stage: 'new' } }))
    const { results } = await made(ring.owner.post(`${records}/batch`, { operations }))
    const ids = results.map(({ record }: { record: { id: string } }) => record.id)
    const [matching, single] = await Promise.all([
      atOnce(20, ring.owners, (client, index) =>
        client.post(`${records}/update-where`, { filter, values: { stage: `${round} ${index}` } }),
      ),
      atOnce(24, ring.owners, (client, index) =>
        client.put(`${records}/${ids[index % ids.length]}/values`, { values: { note: `${round} ${index}` } }),
      ),
    ])
    t.deepEqual([tally(matching), tally(single)], [{ 200: 20 }, { 204: 24 }])
    t.is(sum(matching), 12)
    t.true(matching.every(({ data }) => data.skipped.length === 0 && data.matched === data.changed))
    written += 12 + 24
    t.is(await totalOf(ring, records, `filter=${encodeURIComponent(JSON.stringify(filter))}`), 0)
  }
  t.is(await entriesOf(ring, 'record.updated'), written)
})

test('matching: changes, deletions, batches and creations at once change each record once and count it once', async (t) => {
  const ring = await arena.ring()
  const { records } = await makeType(ring, 'parts', { stage: {}, note: {}, code: { unique: true } })
  for (let round = 0; round < rounds; round++) {
    const operations = Array.from({ length: 10 }, () => ({ op: 'create', values: { stage: 'new' } }))
    const { results } = await made(ring.owner.post(`${records}/batch`, { operations }))
    const ids: string[] = results.map(({ record }: { record: { id: string } }) => record.id)
    const before = await entriesOf(ring, 'record.deleted')
    const [deleted, changed, batches, created] = await Promise.all([
      atOnce(4, ring.owners, (client) => client.post(`${records}/delete-where`, { filter })),
      atOnce(4, ring.owners, (client, index) =>
        client.post(`${records}/update-where`, { filter: [], values: { note: `${round} ${index}` } }),
      ),
      atOnce(6, ring.owners, (client, index) =>
        client.post(`${records}/batch`, {
          operations: ids.toReversed().map((id) => ({ op: 'update', id, values: { code: `${round} ${index} ${id}` } })),
        }),
      ),
      atOnce(6, ring.owners, (client) => client.post(records, { values: { stage: 'new' } })),
    ])
    t.deepEqual([tally(deleted), tally(changed), tally(batches), tally(created)], [{ 200: 4 }, { 200: 4 }, { 200: 6 }, { 201: 6 }])
    const results204 = batches.flatMap(({ data }) => data.results)
    t.deepEqual(
      Object.keys(tally(results204)).filter((status) => !['200', '404'].includes(status)),
      [],
    )
    t.is((await entriesOf(ring, 'record.deleted')) - before, sum(deleted))
    const last = await made(ring.owner.post(`${records}/delete-where`, { filter }))
    t.is(last.changed + sum(deleted), 16)
    t.is(await totalOf(ring, records), 0)
  }
})
