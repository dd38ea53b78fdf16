import test from 'ava'
import { atOnce, openArena, rounds, tally } from '#test/races/arena.ts'

const arena = openArena(test, { FREE_RECORDS: '100000' })

test.serial('creations at once, with failures among them: no number comes twice', async (t) => {
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

test.serial('creations, imports and batches at once share one counter and never wait for each other in a circle', async (t) => {
  const org = await arena.ring()
  const { db, drain } = arena.world()
  const invoices = `${org.path}/records/invoices`
  const csv = `customer_name\n${Array.from({ length: 100 }, (_, index) => `c${index}`).join('\n')}\n`
  const operations = Array.from({ length: 20 }, () => ({ op: 'create' }))
  for (const plan of ['paid', 'free']) {
    await db.query('update workspaces set plan = $1 where id = $2', [plan, org.id])
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
  const { rows } = await db.query(
    `select count(*)::int as kept, count(distinct number)::int as numbers
     from (select after->>'number' as number from audit_entries where action = 'record.created' and workspace_id = $1) as created`,
    [org.id],
  )
  t.is(rows[0].kept, rows[0].numbers)
  t.is((await db.query(`select from pg_stat_database where datname = current_database() and deadlocks > 0`)).rowCount, 0)
})
