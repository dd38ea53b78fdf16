import test from 'ava'
import { startSecondApi } from '#test/support/second-api.ts'
import { world } from '#test/support/world.ts'

const rounds = 10

test('200 creations at once, through two processes and with failures among them, ten times: no number comes twice', async (t) => {
  const w = await world()
  t.teardown(w.close)
  const { org } = w
  const owners = [org.owner, (await startSecondApi(t, w)).as(org.owner.token)] as const
  const invoices = `${org.path}/records/invoices`
  const bodies = [{}, { values: { status: 'bad' } }, { values: { customer_name: 'x' } }, { values: { number: 'taken' } }, { values: {} }]
  t.is((await org.owner.post(invoices, { values: { number: 'taken' } })).status, 201)
  const numbers: string[] = []
  for (let round = 0; round < rounds; round++) {
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, index) => owners[index % 2 === 0 ? 0 : 1].post(invoices, bodies[index % bodies.length])),
    )
    const statuses = answers.map(({ status }) => status)
    t.deepEqual(
      [201, 400, 409].map((status) => statuses.filter((other) => other === status).length),
      [120, 40, 40],
    )
    numbers.push(...answers.flatMap(({ status, data }) => (status === 201 ? data.values.number : [])))
  }
  t.is(numbers.length, 120 * rounds)
  t.is(new Set(numbers).size, numbers.length)
  for (const number of numbers) t.regex(number, /^INV-\d{5}$/)
})

test('creations, imports and batches at once share one counter and never wait for each other in a circle', async (t) => {
  const w = await world({ FREE_RECORDS: '100000' })
  t.teardown(w.close)
  const { org, db } = w
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
      ...Array.from({ length: 6 }, () => whileImporting(() => org.owner.post(invoices))),
      ...Array.from({ length: 2 }, () => whileImporting(() => org.owner.post(`${invoices}/batch`, { operations }))),
    ]
    const imports = await Promise.all(
      Array.from({ length: 10 }, () => org.owner.post(`${invoices}/import`, csv, { 'content-type': 'text/csv' })),
    )
    importing = false
    await Promise.all(writers)
    for (const { data, text } of imports) t.like(data, { created: 100, failed: 0 }, text)
    for (const { status, text } of answers) t.true(status === 201 || status === 200, text)
  }
  await w.drain()
  const { rows } = await db.query(
    `select count(*)::int as kept, count(distinct number)::int as numbers
     from (select after->>'number' as number from audit_entries where action = 'record.created') as created`,
  )
  t.is(rows[0].kept, rows[0].numbers)
  t.is((await db.query(`select from pg_stat_database where datname = current_database() and deadlocks > 0`)).rowCount, 0)
})
