import test from 'ava'
import { ageOperations } from '#test/core/records/rows.ts'
import { readCauses } from '#test/support/audit.ts'
import { createMember } from '#test/support/factories.ts'
import { runMaintenanceTask } from '#test/support/maintenance.ts'
import { countRows } from '#test/support/rows.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const shared = shareWorld(test)

const invoices = (w: World) => `${w.org.path}/records/invoices`

test('additions: a change or deletion with If-Match fails when the record changed after it was read', async (t) => {
  const w = await shared()
  const { owner } = w.org
  const one = `${invoices(w)}/${(await owner.post(invoices(w), {})).data.id}`
  const etag = (await owner.get(one)).headers.get('etag') ?? ''
  t.regex(etag, /^"[\w-]+"$/)
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) => owner.put(`${one}/values`, { values: { notes: `${index}` } }, { 'if-match': etag })),
  )
  t.is(answers.filter(({ status }) => status === 204).length, 1)
  t.deepEqual([...new Set(answers.filter(({ status }) => status !== 204).map(({ body }) => body.error.code))], ['PRECONDITION_FAILED'])
  t.is((await owner.put(`${one}/values`, { values: { notes: 'any' } }, { 'if-match': '*' })).status, 204)
  const present = (await owner.get(one)).headers.get('etag') ?? ''
  t.not(present, etag)
  t.is((await owner.delete(one, { 'if-match': etag })).status, 412)
  t.is((await owner.delete(one, { 'if-match': present })).status, 204)
})

test('additions: fields chooses the fields of a response', async (t) => {
  const w = await shared()
  const { owner } = w.org
  const { data } = await owner.post(invoices(w), { values: { notes: 'n', status: 'open' } })
  t.deepEqual((await owner.get(`${invoices(w)}/${data.id}?fields=notes`)).data.values, { notes: 'n' })
  t.deepEqual((await owner.get(`${invoices(w)}?fields=notes,status`)).data.records[0].values, { notes: 'n', status: 'open' })
  t.deepEqual((await owner.get(`${invoices(w)}?offset=0&fields=`)).data.records[0].values, {})
  t.is((await owner.get(`${invoices(w)}?fields=nope`)).status, 400)
  const { client } = await createMember(w, w.org, [{ effect: 'allow', actions: ['records:read'], fields: { deny: ['notes'] } }])
  t.is((await client.get(`${invoices(w)}?fields=notes`)).status, 400)
})

test('additions: a search sorts by several keys', async (t) => {
  const w = await shared()
  for (const [customer_name, total] of [
    ['b', 1],
    ['a', 1],
    ['a', 2],
    ['b', 2],
  ] as const) {
    await w.org.owner.post(invoices(w), { values: { customer_name, total } })
  }
  const order = async (query: string) =>
    (await w.org.owner.get(`${invoices(w)}?${query}`)).data.records.map(
      ({ values }: { values: { customer_name: string; total: { amount: number } } }) => values.customer_name + values.total.amount,
    )
  t.deepEqual(await order('sort=customer_name,total&dir=asc'), ['a1', 'a2', 'b1', 'b2'])
  t.deepEqual(await order('sort=customer_name,total&dir=asc,desc'), ['a2', 'a1', 'b2', 'b1'])
  t.deepEqual(await order('sort=total,created_at&dir=desc,asc'), ['a2', 'b2', 'b1', 'a1'])
  t.is((await w.org.owner.get(`${invoices(w)}?sort=total&dir=asc,desc`)).status, 400)
  t.is((await w.org.owner.get(`${invoices(w)}?dir=up`)).status, 400)
})

test('additions: a batch returns a result for each change', async (t) => {
  const w = await shared()
  const { owner } = w.org
  const first = (await owner.post(invoices(w), { values: { number: 'A' } })).data
  const { status, data } = await owner.post(`${invoices(w)}/batch`, {
    operations: [
      { op: 'create', values: { number: 'B' } },
      { op: 'create', values: { number: 'A' } },
      { op: 'update', id: first.id, values: { notes: 'x' } },
      { op: 'delete', id: 'nothing' },
      { op: 'upsert', by: 'number', values: { number: 'A', notes: 'y' } },
      { op: 'upsert', by: 'number', values: { number: 'C' } },
      { op: 'upsert', by: 'notes', values: { notes: 'C' } },
      { op: 'delete', id: first.id },
    ],
  })
  t.is(status, 200)
  t.deepEqual(
    data.results.map((result: { status: number }) => result.status),
    [201, 409, 200, 404, 200, 201, 400, 204],
  )
  t.is(data.results[4].record.values.notes, 'y')
  t.is((await owner.get(`${invoices(w)}?offset=0`)).data.total, 2)
})

test('additions: the audit of a batch names its job, also where the caller did not wait for it', async (t) => {
  const w = await shared()
  const { owner, path } = w.org
  const first = (await owner.post(invoices(w), {})).data
  const operations = [{ op: 'create' }, { op: 'update', id: first.id, values: { notes: 'x' } }, { op: 'delete', id: first.id }]
  const { status, data } = await owner.post(`${invoices(w)}/batch`, { operations }, { prefer: 'respond-async' })
  t.is(status, 202)
  await w.drain()
  const id = data.job_id
  t.like((await owner.get(`${path}/jobs/${id}`)).data, { kind: 'records.change', status: 'done' })
  await owner.post(`${path}/batch`, { operations: [{ type: 'locations', op: 'create', values: { name: 'x' } }], atomic: true })
  const causes = await readCauses(w.org)
  t.deepEqual(causes.slice(0, -1), [
    ['created invoices: request', null],
    ['created invoices: batch', id],
    ['updated invoices: batch', id],
    ['deleted invoices: batch', id],
  ])
  const [change, other] = causes.at(-1) ?? []
  t.is(change, 'created locations: batch')
  t.like((await owner.get(`${path}/jobs/${other}`)).data, { kind: 'records.change', status: 'done' })
  t.not(other, id)
})

test('additions: an atomic batch changes nothing when one change fails', async (t) => {
  const w = await shared()
  const operations = [
    { op: 'create', values: {} },
    { op: 'create', values: { status: 'bad' } },
  ]
  const answer = await w.org.owner.post(`${invoices(w)}/batch`, { operations, atomic: true })
  t.is(answer.status, 400)
  t.regex(answer.body.error.message, /^operations\[1\]: values\.status/)
  t.is((await w.org.owner.get(`${invoices(w)}?offset=0`)).data.total, 0)
  const many = (count: number) => ({ operations: Array.from({ length: count }, () => ({ op: 'create' })), atomic: true })
  t.is((await w.org.owner.post(`${invoices(w)}/batch`, many(501))).status, 400)
  t.is((await w.org.owner.post(`${invoices(w)}/batch`, many(500))).data.results.length, 500)
})

test('additions: a batch checks the permission of each change', async (t) => {
  const w = await shared()
  const { client } = await createMember(w, w.org, [{ effect: 'allow', actions: ['records:create'] }])
  const { data } = await w.org.owner.post(invoices(w), {})
  const operations = [{ op: 'create' }, { op: 'update', id: data.id, values: {} }, { op: 'delete', id: data.id }]
  const answer = await client.post(`${invoices(w)}/batch`, { operations })
  t.deepEqual(
    answer.data.results.map((result: { status: number }) => result.status),
    [201, 403, 403],
  )
})

test('additions: one of 20 upserts of one value at once creates', async (t) => {
  const w = await shared()
  const operations = [{ op: 'upsert', by: 'number', values: { number: 'X' } }]
  const answers = await Promise.all(Array.from({ length: 20 }, () => w.org.owner.post(`${invoices(w)}/batch`, { operations })))
  const statuses = answers.map(({ data }) => data.results[0].status).sort()
  t.deepEqual(statuses, [...Array(19).fill(200), 201])
})

test('additions: an upsert by a computed field is refused', async (t) => {
  const w = await shared()
  const { owner, path } = w.org
  const body = { entity_type: 'invoices', key: 'slug', label: 'Slug', type: 'string', unique: true }
  const field = (await owner.post(`${path}/fields`, body)).data
  t.is((await owner.put(`${path}/fields/${field.id}/formula`, { formula: 'LOWER(number)' })).status, 200)
  await owner.post(invoices(w), { values: { number: 'A' } })
  // Another record holds the value that the record would compute, and no record holds the sent value.
  const operations = [{ op: 'upsert', by: 'slug', values: { slug: 'z', number: 'A' } }]
  const { data } = await owner.post(`${invoices(w)}/batch`, { operations })
  t.is(data.results[0].status, 400)
  t.regex(data.results[0].error.message, /^by /)
})

test('additions: long unique text is separated exactly, also with equal MD5', async (t) => {
  const w = await shared()
  const { owner, path } = w.org
  for (const type of ['text', 'file', 'url']) {
    const body = { entity_type: 'locations', key: `my_${type}`, label: type, type, unique: true }
    t.is((await owner.post(`${path}/fields`, body)).status, 201)
  }
  // Two texts with the same MD5 (Marc Stevens, 2024).
  const texts = ['A', 'E'].map((letter) => `TEXTCOLLBYfGiJUETHQ4h${letter}cKSMd5zYpgqf1YRDhkmxHkhPWptrkoyz28wnI9V0aHeAuaKnak`)
  const upsert = (key: string, value: string) => ({ op: 'upsert', by: key, values: { name: 'n', [key]: value } })
  for (const operation of [
    ...texts.map((text) => upsert('my_text', text)),
    ...texts.map((text) => upsert('my_file', text)),
    ...['x', 'y'].map((end) => upsert('my_url', `https://example.com/${'a'.repeat(2_000)}${end}`)),
  ]) {
    const batch = async () => (await owner.post(`${path}/records/locations/batch`, { operations: [operation] })).data.results[0].status
    t.is(await batch(), 201)
    t.is(await batch(), 200)
  }
})

test('additions: 20 batches at once over the same records, in opposite orders, cause no deadlock', async (t) => {
  const w = await shared()
  const { owner } = w.org
  const numbers = ['A', 'B', 'C', 'D', 'E', 'F', 'G']
  const batch = (index: number) => {
    const upserts = numbers.map((number) => ({ op: 'upsert', by: 'number', values: { number, notes: `${index}` } }))
    const operations = [...(index % 2 ? upserts : upserts.reverse()), { op: 'create' }]
    return owner.post(
      `${invoices(w)}/batch`,
      { operations, atomic: index % 3 === 0 },
      index % 4 === 0 ? { 'idempotency-key': `${index}` } : {},
    )
  }
  const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => batch(index)))
  t.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
  t.is((await owner.get(`${invoices(w)}?offset=0`)).data.total, numbers.length + 20)
})

test('additions: every change of a record has its own time, also in one transaction', async (t) => {
  const w = await shared()
  const { id } = (await w.org.owner.post(invoices(w), {})).data
  const operations = ['a', 'b', 'c'].map((notes) => ({ op: 'update', id, values: { notes } }))
  const { data } = await w.org.owner.post(`${invoices(w)}/batch`, { operations })
  const times = data.results.map(({ record }: { record: { updated_at: string } }) => record.updated_at)
  t.is(new Set(times).size, operations.length)
})

test('additions: the response of a batch is stored as long as its Idempotency-Key is valid, and not much longer', async (t) => {
  const w = await shared()
  const key = { 'idempotency-key': 'k' }
  const batch = () => w.org.owner.post(`${invoices(w)}/batch`, { operations: [{ op: 'create' }] }, key)
  const first = await batch()
  const left = async (hours: number) => {
    await ageOperations(w.db, w.org.id, hours)
    await runMaintenanceTask(w, 'sweep_batch_answers')
    return countRows(w.db, 'operations', w.org.id)
  }
  t.is(await left(24), 1)
  t.deepEqual((await batch()).data, first.data)
  t.is(await left(26), 0)
})
