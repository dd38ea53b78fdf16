import test from 'ava'
import { atOnce, made, makeType, openArena, rounds, tally } from '#test/races/arena.ts'
import { countCreatedNumbers, countDeadlocks, deleteField } from '#test/races/rows.ts'
import { setPlan } from '#test/support/rows.ts'
import { whileWaiting } from '#test/support/waiting.ts'

const arena = openArena(test, { FREE_RECORDS: '100000' })

test('numbers: creations at once, with failures among them, issue no number twice', async (t) => {
  const org = await arena.ring()
  const invoices = `${org.path}/records/invoices`
  const bodies = [{}, { values: { status: 'bad' } }, { values: { customer_name: 'x' } }, { values: { number: 'taken' } }, { values: {} }]
  t.is((await org.owner.post(invoices, { values: { number: 'taken' } })).status, 201)
  const numbers: string[] = []
  for (let round = 0; round < rounds; round++) {
    const answers = await atOnce(100, org.owners, (client, index) => client.post(invoices, bodies[index % bodies.length]))
    t.deepEqual(tally(answers), { 201: 60, 400: 20, 409: 20 })
    numbers.push(...answers.flatMap(({ status, data }) => (status === 201 ? data.values.number : [])))
  }
  t.is(numbers.length, 60 * rounds)
  t.is(new Set(numbers).size, numbers.length)
  for (const number of numbers) t.regex(number, /^INV-\d{5}$/)
})

test('numbers: a creation that waits for the deletion of an auto-numbered field is stored without the field', async (t) => {
  const org = await arena.ring()
  const { records, fields } = await makeType(org, 'parts', { name: {}, number: {} })
  t.is((await org.owner.put(`${org.path}/fields/${fields.number}/autogen`, { pattern: 'N-{seq}' })).status, 200)
  await made(org.owner.post(records, { values: { name: 'first' } }))
  const { status, data } = await whileWaiting(
    arena.world(),
    (other) => deleteField(other, fields.number ?? ''),
    () => org.owner.post(records, { values: { name: 'second' } }),
  )
  t.is(status, 201)
  t.deepEqual(data.values, { name: 'second' })
})

test('numbers: creations, imports and batches at once share one counter without deadlocks', async (t) => {
  const org = await arena.ring()
  const { db, drain } = arena.world()
  const invoices = `${org.path}/records/invoices`
  const csv = `customer_name\n${Array.from({ length: 100 }, (_, index) => `c${index}`).join('\n')}\n`
  const operations = Array.from({ length: 20 }, () => ({ op: 'create' }))
  for (const plan of ['paid', 'free'] as const) {
    await setPlan(db, org.id, plan)
    let importing = true
    const answers: { status: number; text: string }[] = []
    const whileImporting = async (call: () => Promise<{ status: number; text: string }>) => {
      while (importing) answers.push(await call())
    }
    const writers = [
      atOnce(6, org.owners, (client) => whileImporting(() => client.post(invoices))),
      atOnce(2, org.owners, (client) => whileImporting(() => client.post(`${invoices}/batch`, { operations }))),
    ]
    const imports = await atOnce(10, org.owners, (client) => client.post(`${invoices}/import`, csv, { 'content-type': 'text/csv' }))
    importing = false
    await Promise.all(writers)
    for (const { data, text } of imports) t.like(data, { created: 100, failed: 0 }, text)
    for (const { status, text } of answers) t.true(status === 201 || status === 200, text)
  }
  await drain()
  const { all, different } = await countCreatedNumbers(db, org.id)
  t.is(all, different)
  t.is(await countDeadlocks(db), 0)
})

test('numbers: numbers that other records hold are skipped', async (t) => {
  const org = await arena.ring()
  const invoices = `${org.path}/records/invoices`
  let last = 0
  for (let round = 0; round < rounds; round++) {
    const ahead = Array.from({ length: 20 }, (_, index) => `INV-${String(last + 1 + index * 2).padStart(5, '0')}`)
    const answers = await atOnce(30, org.owners, async (client, index) => {
      const number = index % 3 === 0 ? ahead[index] : undefined
      const headers: Record<string, string> = index % 6 === 1 ? { 'idempotency-key': `${round} ${index}` } : {}
      const answer = await client.post(invoices, number === undefined ? {} : { values: { number } }, headers)
      return { answer, isChosen: number !== undefined }
    })
    for (const { answer, isChosen } of answers) t.true(answer.status === 201 || (isChosen && answer.status === 409), answer.text)
    const numbers = answers.flatMap(({ answer }) => (answer.status === 201 ? [answer.data.values.number as string] : []))
    t.is(new Set(numbers).size, numbers.length)
    last = Math.max(last, ...numbers.map((number) => Number(number.slice(4))))
  }
})

test('numbers: the next number that is set is the least of the later numbers, whatever is created meanwhile', async (t) => {
  const org = await arena.ring()
  // Not unique: a repeated number would not be skipped.
  const { records, fields } = await makeType(org, 'orders', { code: {} })
  const autogen = `${org.path}/fields/${fields.code}/autogen`
  await made(org.owner.put(autogen, { pattern: '{seq}' }))
  const codes = new Set<number>()
  for (let round = 1; round <= rounds; round++) {
    const [answers, ...set] = await Promise.all([
      atOnce(12, org.owners, (client) => client.post(records)),
      org.owners[1].put(autogen, { pattern: '{seq}', next: round * 100 }),
      org.owners[0].put(autogen, { pattern: '{seq}', next: 2 }),
    ])
    t.deepEqual(tally([...answers, ...set]), { 200: 2, 201: 12 })
    const after = Number((await made(org.owner.post(records))).values.code)
    t.true(after >= round * 100, `${after}`)
    for (const { data } of answers) codes.add(Number(data.values.code))
    codes.add(after)
  }
  t.is(codes.size, 13 * rounds)
})
