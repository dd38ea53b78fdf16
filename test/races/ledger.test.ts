import test from 'ava'
import { createAccount, openBooks } from '#test/features/accounting/books.ts'
import { atOnce, made, openArena, type Ring, rounds, tally } from '#test/races/arena.ts'
import { countLines, listEntries, readInstant } from '#test/races/rows.ts'

const arena = openArena(test)

const begin = async (codes: readonly string[] = ['1000', '4000']) => {
  const ring = await arena.ring()
  return { ring, books: await openBooks(ring, codes) }
}

/** Debits equal credits, and every report of the books agrees. */
const hold = async ({ owner, path }: Ring) => (await made(owner.get(`${path}/accounting/verify`))).ok as boolean

test('ledger: one of 20 reversals of an entry is posted', async (t) => {
  const { ring, books } = await begin()
  for (let round = 0; round < rounds; round++) {
    const { id } = await made(books.post(['1000 +1', '4000 -1']))
    const answers = await atOnce(20, ring.owners, (client) => client.post(`${books.path}/entries/${id}/reverse`))
    t.deepEqual(tally(answers), { 201: 1, 400: 19 })
  }
  t.is((await books.read('/entries?status=reversal')).total, rounds)
  t.true(await hold(ring))
})

test('ledger: 20 equal postings with one key, and 20 reversals with one key, are done once each', async (t) => {
  const { ring, books } = await begin()
  for (let round = 0; round < rounds / 4; round++) {
    const key = { 'idempotency-key': `key ${round}` }
    const posted = await atOnce(20, ring.owners, (client) => books.post(['1000 +1', '4000 -1'], { date: '2026-01-01' }, client, key))
    t.deepEqual(tally(posted), { 201: 20 })
    t.is(new Set(posted.map(({ data }) => data.id)).size, 1)
    const path = `${books.path}/entries/${posted[0]?.data.id}/reverse`
    const reversed = await atOnce(20, ring.owners, (client) => client.post(path, {}, key))
    t.deepEqual(tally(reversed), { 201: 20 })
    t.is(new Set(reversed.map(({ data }) => data.id)).size, 1)
  }
  t.is((await books.read('/entries')).total, rounds / 2)
})

test('ledger: an account is either posted to or deleted', async (t) => {
  const { ring, books } = await begin()
  for (let round = 0; round < rounds; round++) {
    const account = await createAccount(ring, `1${round}x`)
    const record = `${ring.path}/records/accounts/${account}`
    const answers = await atOnce(20, ring.owners, async (client, index) =>
      index % 5 === 0
        ? { ...(await client.delete(record)), kind: 'deletion' }
        : { ...(await books.post([`${account} +1`, '4000 -1'], {}, client)), kind: 'posting' },
    )
    const postings = answers.filter(({ kind }) => kind === 'posting').filter(({ status }) => status === 201).length
    const deletions = answers.filter(({ kind, status }) => kind === 'deletion' && status === 204).length
    t.true(
      answers.every(({ status }) => [201, 204, 400, 404].includes(status)),
      JSON.stringify(tally(answers)),
    )
    t.is(deletions, postings === 0 ? 1 : 0)
    t.is(await countLines(arena.world().db, account), postings)
  }
})

test('ledger: all postings to an account see one kind', async (t) => {
  const { ring, books } = await begin()
  for (let round = 0; round < rounds; round++) {
    const account = await createAccount(ring, `1${round}x`)
    const values = `${ring.path}/records/accounts/${account}/values`
    const answers = await atOnce(20, ring.owners, async (client, index) => {
      if (index % 5 !== 0) return { ...(await books.post([`${account} +1`, '4000 -1'], {}, client)), at: '' }
      return client.put(values, { values: { kind: 'liability' } }).then((answer) => ({ ...answer, at: 'kind' }))
    })
    t.deepEqual(tally(answers.filter(({ at }) => at === '')), { 201: 16 })
    const { kind } = (await made(ring.owner.get(values))).values
    const changed = answers.filter(({ at, status }) => at === 'kind' && status === 204).length
    // A change to the present kind has no effect.
    t.is(kind, changed > 0 ? 'liability' : 'asset')
  }
})

test('ledger: a seal covers only entries that were posted before it, and the chain has no fork', async (t) => {
  const { ring, books } = await begin()
  for (let round = 0; round < rounds / 4; round++) {
    const answers = await atOnce(20, ring.owners, (client, index) =>
      index % 4 === 0 ? client.post(`${books.path}/seals`, {}) : books.post(['1000 +1', '4000 -1'], {}, client),
    )
    t.deepEqual(tally(answers), { 201: 20 })
  }
  await made(ring.owner.post(`${books.path}/seals`, {}))
  const seals = await books.read('/seals')
  t.is(
    seals.reduce((sum: number, { entries }: { entries: number }) => sum + entries, 0),
    (await books.read('/entries')).total,
  )
  t.is(new Set(seals.map(({ previous }: { previous: string }) => previous)).size, seals.length)
  t.true(await hold(ring))
})

test('ledger: no entry is posted before the date through which books are closed', async (t) => {
  const { ring, books } = await begin()
  for (let round = 0; round < rounds; round++) {
    const day = `2026-01-${String(round + 1).padStart(2, '0')}`
    let found: readonly string[] = []
    const answers = await atOnce(20, ring.owners, async (client, index) => {
      if (index !== 7) return books.post(['1000 +1', '4000 -1'], { date: day }, client)
      const answer = await client.patch(ring.path, { books_closed_through: day })
      found = await listEntries(arena.world().db, ring.id, day)
      return answer
    })
    t.is(answers[7]?.status, 200)
    const posted = answers.filter(({ status }) => status === 201).map(({ data }) => data.id as string)
    t.deepEqual(posted.sort(), found)
  }
})

test('ledger: a report as of now never changes, whatever is posted meanwhile', async (t) => {
  const { ring, books } = await begin()
  const reports: { readonly path: string; readonly text: string }[] = []
  for (let round = 0; round < rounds / 4; round++) {
    const answers = await atOnce(20, ring.owners, async (client, index) => {
      if (index % 4 !== 0) return books.post(['1000 +1', '4000 -1'], {}, client)
      const path = `${books.path}/trial-balance?recorded_before=${await readInstant(arena.world().db)}`
      const answer = await client.get(path)
      reports.push({ path, text: answer.text })
      return answer
    })
    t.deepEqual(tally(answers), { 200: 5, 201: 15 })
  }
  for (const { path, text } of reports) t.is((await ring.owner.get(path)).text, text)
})

test('ledger: books have one currency or several', async (t) => {
  for (let round = 0; round < rounds / 4; round++) {
    const { ring, books } = await begin()
    const answers = await atOnce(12, ring.owners, (client, index) =>
      index % 3 === 0 ? client.patch(ring.path, { default_currency: 'EUR' }) : books.post(['1000 +1', '4000 -1'], {}, client),
    )
    t.true(
      answers.every(({ status }) => [200, 201, 400].includes(status)),
      JSON.stringify(tally(answers)),
    )
    const { currencies } = await books.read('/trial-balance')
    const { default_currency } = await made(ring.owner.get(ring.path))
    t.deepEqual(currencies, [default_currency])
  }
})
