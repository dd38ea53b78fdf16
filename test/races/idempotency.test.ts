import test from 'ava'
import { atOnce, made, makeType, openArena, rounds, tally, totalOf } from '#test/races/arena.ts'
import { countRows } from '#test/support/rows.ts'

const arena = openArena(test)

test('idempotency: 50 requests with one key have one effect and 50 equal responses', async (t) => {
  const ring = await arena.ring()
  const { records } = await makeType(ring, 'parts', { note: {} })
  for (let round = 0; round < rounds; round++) {
    const key = { 'idempotency-key': `create ${round}` }
    const answers = await atOnce(50, ring.owners, (client) => client.post(records, { values: { note: 'once' } }, key))
    t.deepEqual(tally(answers), { 201: 50 })
    t.is(new Set(answers.map(({ text }) => text)).size, 1)
  }
  t.is(await totalOf(ring, records), rounds)
})

test('idempotency: of requests with one key and two bodies those of one body are done once and the others refused', async (t) => {
  const ring = await arena.ring()
  const { records } = await makeType(ring, 'parts', { note: {} })
  for (let round = 0; round < rounds; round++) {
    const key = { 'idempotency-key': `body ${round}` }
    const answers = await atOnce(20, ring.owners, (client, index) => client.post(records, { values: { note: `${index % 4 < 2}` } }, key))
    t.deepEqual(tally(answers), { 201: 10, 400: 10 })
    t.is(new Set(answers.map(({ data }) => data?.id)).size, 2)
  }
  t.is(await totalOf(ring, records), rounds)
})

test('idempotency: a failure with one key is one failure, whatever changes meanwhile', async (t) => {
  const ring = await arena.ring()
  const { records } = await makeType(ring, 'parts', { code: { unique: true } })
  let kept = 0
  for (let round = 0; round < rounds; round++) {
    const values = { code: `c${round}` }
    const { id } = await made(ring.owner.post(records, { values }))
    const key = { 'idempotency-key': `failure ${round}` }
    const [answers] = await Promise.all([
      atOnce(20, ring.owners, (client) => client.post(records, { values }, key)),
      ring.owners[1].delete(`${records}/${id}`),
    ])
    t.is(new Set(answers.map(({ status }) => status)).size, 1, JSON.stringify(tally(answers)))
    kept += answers[0]?.status === 201 ? 1 : 0
    t.is(await totalOf(ring, records), kept)
  }
})

test('idempotency: work of a worker that is requested repeatedly with one key is done once', async (t) => {
  const ring = await arena.ring()
  const { records } = await makeType(ring, 'parts', { note: {} })
  const source = `async function handler(note) { return (await sdk.records.create('parts', { note })).id }`
  const { id } = await made(ring.owner.post(`${ring.path}/functions`, { name: 'Make', source }))
  for (let round = 0; round < rounds; round++) {
    const key = { 'idempotency-key': `work ${round}` }
    const imports = atOnce(10, ring.owners, (client) =>
      client.post(`${records}/import`, `note\nimport ${round}\n`, { ...key, 'content-type': 'text/csv' }),
    )
    const runs = atOnce(10, ring.owners, (client) => client.post(`${ring.path}/functions/${id}/invoke`, { input: `run ${round}` }, key))
    for (const answers of [await imports, await runs]) {
      t.deepEqual(tally(answers), { 200: 10 })
      t.is(new Set(answers.map(({ text }) => text)).size, 1)
    }
    t.is(await totalOf(ring, records), 2 * (round + 1))
  }
  await arena.world().drain()
  t.is(await countRows(arena.world().db, 'job_files', ring.id), 0)
})
