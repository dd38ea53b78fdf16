import test from 'ava'
import { atOnce, made, openArena, type Ring, rounds, tally } from '#test/races/arena.ts'
import { countRows } from '#test/support/rows.ts'

const arena = openArena(test)

const returning = (value: string) => `function handler() { return ${JSON.stringify(value)} }`
const makeFunction = async (ring: Ring, source: string): Promise<string> =>
  `${ring.path}/functions/${(await made(ring.owner.post(`${ring.path}/functions`, { name: 'Race', source }))).id}`

test('functions: sources that are saved and restored at once are a version each, and the newest is current', async (t) => {
  const ring = await arena.ring()
  const path = await makeFunction(ring, returning('first'))
  for (let round = 0; round < rounds; round++) {
    const before = (await ring.owner.get(path)).data
    const sources = Array.from({ length: 8 }, (_, index) => returning(`${round} ${index}`))
    const [saved, restored] = await Promise.all([
      atOnce(8, ring.owners, (client, index) => client.put(path, { source: sources[index] })),
      atOnce(2, ring.owners, (client) => client.post(`${path}/versions/${before.version}/restore`)),
    ])
    t.deepEqual(tally([...saved, ...restored]), { 200: 10 })
    for (const [index, { data }] of saved.entries()) t.is(data.source, sources[index])
    for (const { data } of restored) t.is(data.source, before.source)
    t.is(new Set(saved.map(({ data }) => data.version)).size, 8)
    const present = (await ring.owners[1].get(path)).data
    t.is(present.version, Math.max(...[...saved, ...restored].map(({ data }) => data.version)))
    t.is(present.source, [...saved, ...restored].find(({ data }) => data.version === present.version)?.data.source)
    t.is((await made(ring.owner.get(`${path}/versions/${present.version}`))).source, present.source)
  }
})

test('functions: a secret that is set repeatedly at once has one of the values, and is deleted once', async (t) => {
  const ring = await arena.ring()
  const source = `async function handler(values) { return values.indexOf(await sdk.secrets.get('KEY')) }`
  const path = await makeFunction(ring, source)
  const secret = `${ring.path}/functions/secrets/KEY`
  for (let round = 0; round < rounds; round++) {
    const values = Array.from({ length: 10 }, (_, index) => `value ${round} ${index}`)
    t.deepEqual(tally(await atOnce(10, ring.owners, (client, index) => client.put(secret, { value: values[index] }))), { 200: 10 })
    t.is((await ring.owner.get(`${ring.path}/functions/secrets`)).data.length, 1)
    const { result } = await made(ring.owners[1].post(`${path}/invoke`, { input: values }))
    t.true(result >= 0 && result < 10)
    t.deepEqual(tally(await atOnce(10, ring.owners, (client) => client.delete(secret))), { 204: 1, 404: 9 })
  }
})

test('functions: a function that is deleted or disabled while it is called runs or is refused, and leaves no run waiting', async (t) => {
  const ring = await arena.ring()
  const w = arena.world()
  for (let round = 0; round < rounds; round++) {
    const path = await makeFunction(ring, returning('done'))
    const isDeletion = round % 2 === 0
    const [answers, change] = await Promise.all([
      atOnce(10, ring.owners, (client) => client.post(`${path}/invoke`)),
      isDeletion ? ring.owners[1].delete(path) : ring.owners[1].put(path, { enabled: false }),
    ])
    t.is(change.status, isDeletion ? 204 : 200)
    for (const { status, data } of answers) t.true(status === (isDeletion ? 404 : 400) || data?.result === 'done', `${status}`)
    t.is((await ring.owner.post(`${path}/invoke`)).status, isDeletion ? 404 : 400)
  }
  await w.drain()
  t.is(await countRows(w.db, 'gated_jobs', ring.id), 0)
})
