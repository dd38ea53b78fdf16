import test from 'ava'
import { admitVisitors, makeSite, putDocument, putFile } from '#test/features/sites/making.ts'
import { atOnce, openArena, rounds, tally } from '#test/races/arena.ts'
import { fromAnywhere } from '#test/support/account.ts'
import { readFileUsage } from '#test/support/rows.ts'

const arena = openArena(test, { TRUST_PROXY: '1' })

async function begin(plan: 'paid' | 'free' = 'paid') {
  const ring = await arena.ring(plan)
  const w = { ...arena.world(), org: ring }
  await admitVisitors(w)
  return { w, ring, site: await makeSite(w) }
}

test('sites: 240 of 300 reads of content from one address at both processes are accepted', async (t) => {
  await arena.open()
  const { w, site } = await begin()
  await putDocument(w, site, 'page')
  const address = fromAnywhere()
  const answers = await atOnce(300, arena.pair(w.visitor), (client) => client.get(`${site.open}/page`, address))
  t.deepEqual(tally(answers), { 200: 240, 429: 60 })
})

test('sites: a page that is written 20 times at once is created once, and its bytes count once', async (t) => {
  await arena.open()
  const { w, ring, site } = await begin()
  const bytes = Buffer.alloc(1_000, 'x')
  for (let round = 0; round < rounds / 2; round++) {
    const answers = await atOnce(20, ring.owners, (client, index) =>
      index % 3 === 0
        ? client.put(`${site.inside}/p${round}`, { title: 'x' })
        : client.put(`${site.inside}/p${round}`, bytes, { 'content-type': 'text/plain' }),
    )
    t.deepEqual(tally(answers), { 200: 19, 201: 1 })
    t.is((await putFile(w, `${site.inside}/p${round}`, bytes, 'text/plain')).status, 200)
    t.is(await readFileUsage(w.db, ring.id), 1_000 * (round + 1))
  }
})

test('sites: 20 first files of all websites at once are stored in one place', async (t) => {
  await arena.open()
  const { ring } = await begin()
  const answers = await atOnce(20, ring.owners, (client, index) =>
    client.put(`${ring.path}/assets/a${index}`, 'x', { 'content-type': 'text/plain' }),
  )
  t.deepEqual(tally(answers), { 201: 20 })
  t.is((await ring.owner.get(`${ring.path}/assets`)).data.length, 20)
})
