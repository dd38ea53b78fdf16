import { randomBytes } from 'node:crypto'
import test from 'ava'
import { ageStoredAnswer, readStoredAnswer, refuseCreations } from '#test/api/http/rows.ts'
import { createMember, createPerson } from '#test/support/factories.ts'
import { hurry } from '#test/support/hurry.ts'
import { runMaintenanceTask } from '#test/support/maintenance.ts'
import { countRows } from '#test/support/rows.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const take = shareWorld(test)

const invoices = (w: World) => `${w.org.path}/records/invoices`

const total = async (w: World) => (await w.org.owner.get(`${invoices(w)}?offset=0`)).data.total

test('idempotency: a key with another body, by another caller or on another path is another request', async (t) => {
  const w = await take()
  const key = { 'idempotency-key': 'k' }
  const first = await w.org.owner.post(invoices(w), { values: { notes: 'a' } }, key)
  t.is(first.status, 201)
  t.is((await w.org.owner.post(invoices(w), { values: { notes: 'b' } }, key)).status, 400)
  t.deepEqual((await w.org.owner.post(invoices(w), { values: { notes: 'a' } }, key)).data, first.data)
  const member = await createMember(w, w.org, [{ effect: 'allow', actions: ['*'] }])
  t.not((await member.client.post(invoices(w), { values: { notes: 'a' } }, key)).data.id, first.data.id)
  t.is((await w.org.owner.post(`${w.org.path}/records/payments`, {}, key)).status, 201)
  t.is(await total(w), 2)
})

test('idempotency: a key has 1 to 255 characters', async (t) => {
  const w = await take()
  t.is((await w.org.owner.post(invoices(w), {}, { 'idempotency-key': '' })).status, 400)
  t.is((await w.org.owner.post(invoices(w), {}, { 'idempotency-key': 'k'.repeat(256) })).status, 400)
  t.is((await w.org.owner.post(invoices(w), {}, { 'idempotency-key': 'k'.repeat(255) })).status, 201)
})

test('idempotency: a key may be sent to a path of any length', async (t) => {
  const w = await take()
  const path = `${w.org.path}/notifications/read/${randomBytes(3_000).toString('hex')}`
  for (const _ of ['first', 'again']) t.is((await w.org.owner.post(path, {}, { 'idempotency-key': 'k' })).status, 404)
})

test('idempotency: a failure of the caller is stored and repeated; after a failure of the server the key is free', async (t) => {
  const w = await take()
  const bad = { values: { number: 'A' } }
  await w.org.owner.post(invoices(w), bad)
  const refused = await w.org.owner.post(invoices(w), bad, { 'idempotency-key': 'dup' })
  t.is(refused.status, 409)
  const again = await w.org.owner.post(invoices(w), bad, { 'idempotency-key': 'dup' })
  t.is(again.body.error.message, refused.body.error.message)
  const mend = await refuseCreations(w.db, w.org.id, 'doomed')
  t.is((await w.org.owner.post(invoices(w), { values: { notes: 'doomed' } }, { 'idempotency-key': 'died' })).status, 500)
  await mend()
  t.is((await w.org.owner.post(invoices(w), { values: { notes: 'doomed' } }, { 'idempotency-key': 'died' })).status, 201)
  t.is(await total(w), 2)
})

test('idempotency: an import with a key is done once, and its file is stored once', async (t) => {
  const w = await take()
  const headers = { 'content-type': 'text/csv', 'idempotency-key': 'import' }
  const answers = await Promise.all(Array.from({ length: 5 }, () => w.org.owner.post(`${invoices(w)}/import`, 'notes\na\nb\n', headers)))
  for (const answer of answers)
    t.deepEqual(answer.data, { created: 2, updated: 0, unchanged: 0, failed: 0, errors: [], ignored_columns: [] })
  t.is(await total(w), 2)
  t.is(await countRows(w.db, 'job_files', w.org.id), 0)
})

test('idempotency: stored responses cannot be read in the database', async (t) => {
  const w = await take()
  await w.org.owner.post(invoices(w), { values: { notes: 'plainly visible' } }, { 'idempotency-key': 'sealed' })
  t.false((await readStoredAnswer(w.db, 'sealed'))?.includes('plainly') ?? true)
})

test('idempotency: work that failed half-way continues with the same key and is done once', async (t) => {
  const w = await take()
  const headers = { 'content-type': 'text/csv', 'idempotency-key': 'halfway', prefer: 'respond-async' }
  const file = `notes\n${Array.from({ length: 250 }, (_, row) => `row ${row}\n`).join('')}`
  const mend = await refuseCreations(w.db, w.org.id, 'row 240')
  const first = await w.org.owner.post(`${invoices(w)}/import`, file, headers)
  t.is(await hurry(w, first.data.job_id), 'failed')
  t.is(await total(w), 200, 'two of three steps are done')
  await mend()
  const again = await Promise.all(
    Array.from({ length: 5 }, () => w.org.owner.post(`${invoices(w)}/import`, file, { ...headers, prefer: 'wait=60' })),
  )
  for (const answer of again)
    t.deepEqual(answer.data, { created: 250, updated: 0, unchanged: 0, failed: 0, errors: [], ignored_columns: [] })
  t.is(await total(w), 250)
  t.is((await w.org.owner.post(`${invoices(w)}/import`, `${file}more\n`, headers)).status, 400)
})

test('idempotency: the same key of two callers at once is two requests', async (t) => {
  const w = await take()
  const member = await createMember(w, w.org, [{ effect: 'allow', actions: ['*'] }])
  const callers = Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? w.org.owner : member.client))
  const answers = await Promise.all(callers.map((caller) => caller.post(invoices(w), { values: {} }, { 'idempotency-key': 'both' })))
  t.is(new Set(answers.map(({ data }) => data.id)).size, 2)
  t.is(await total(w), 2)
})

test('idempotency: signing in and out ignores the key', async (t) => {
  const w = await take()
  const { client } = await createPerson(w, 'Pat')
  const key = { 'idempotency-key': 'k'.repeat(256) }
  t.is((await client.post('/v1/auth/password', { current: 'wrong', next: 'long enough now' }, key)).status, 401)
  t.is((await client.post('/v1/auth/sign-out', {}, { 'idempotency-key': 'k' })).status, 204)
  t.is((await client.post('/v1/auth/sign-out', {}, { 'idempotency-key': 'k' })).status, 401, 'no stored response is returned')
})

test('idempotency: a response with a secret is encrypted, and deleted after 24 hours', async (t) => {
  const w = await take()
  const account = await w.org.owner.post(`${w.org.path}/service-accounts`, { name: 'Robot' })
  const path = `${w.org.path}/service-accounts/${account.data.id}/keys`
  const first = await w.org.owner.post(path, {}, { 'idempotency-key': 'secret' })
  t.is((await w.org.owner.post(path, {}, { 'idempotency-key': 'secret' })).data.key, first.data.key)
  t.false((await readStoredAnswer(w.db, 'secret'))?.includes(first.data.key) ?? true)
  await ageStoredAnswer(w.db, 'secret')
  await runMaintenanceTask(w, 'sweep_idempotency_records')
  t.is(await readStoredAnswer(w.db, 'secret'), undefined)
})
