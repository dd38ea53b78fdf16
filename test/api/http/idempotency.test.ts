import { randomBytes } from 'node:crypto'
import test from 'ava'
import { createMember } from '#test/support/factories.ts'
import { type World, world } from '#test/support/world.ts'

const invoices = (w: World) => `${w.org.path}/records/invoices`
const total = async (w: World) => (await w.org.owner.get(`${invoices(w)}?offset=0`)).data.total

test('the same key with another body, by another caller or on another path is another request', async (t) => {
  const w = await world()
  t.teardown(w.close)
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

test('a key has 1 to 255 characters', async (t) => {
  const w = await world()
  t.teardown(w.close)
  t.is((await w.org.owner.post(invoices(w), {}, { 'idempotency-key': '' })).status, 400)
  t.is((await w.org.owner.post(invoices(w), {}, { 'idempotency-key': 'k'.repeat(256) })).status, 400)
  t.is((await w.org.owner.post(invoices(w), {}, { 'idempotency-key': 'k'.repeat(255) })).status, 201)
})

test('a path of any length may carry a key', async (t) => {
  const w = await world()
  t.teardown(w.close)
  const path = `${w.org.path}/notifications/read/${randomBytes(3_000).toString('hex')}`
  for (const _ of ['first', 'again']) t.is((await w.org.owner.post(path, {}, { 'idempotency-key': 'k' })).status, 404)
})

test('a failure that is the caller’s is answered again; a try that died leaves the key free', async (t) => {
  const w = await world()
  t.teardown(w.close)
  const bad = { values: { number: 'A' } }
  await w.org.owner.post(invoices(w), bad)
  const refused = await w.org.owner.post(invoices(w), bad, { 'idempotency-key': 'dup' })
  t.is(refused.status, 409)
  const again = await w.org.owner.post(invoices(w), bad, { 'idempotency-key': 'dup' })
  t.is(again.body.error.message, refused.body.error.message)
  await w.db.query(`create function fail() returns trigger language plpgsql as $$ begin raise exception 'broken'; end $$`)
  await w.db.query('create trigger broken before insert on audit_entries for each row execute function fail()')
  t.is((await w.org.owner.post(invoices(w), {}, { 'idempotency-key': 'died' })).status, 500)
  await w.db.query('drop trigger broken on audit_entries')
  t.is((await w.org.owner.post(invoices(w), {}, { 'idempotency-key': 'died' })).status, 201)
  t.is(await total(w), 2)
})

test('an import with a key is done once, and its file is kept once', async (t) => {
  const w = await world()
  t.teardown(w.close)
  const headers = { 'content-type': 'text/csv', 'idempotency-key': 'import' }
  const answers = await Promise.all(Array.from({ length: 5 }, () => w.org.owner.post(`${invoices(w)}/import`, 'notes\na\nb\n', headers)))
  for (const answer of answers) t.deepEqual(answer.data, { created: 2, failed: 0, errors: [] })
  t.is(await total(w), 2)
  t.is((await w.db.query('select from job_files')).rowCount, 0)
})

test('what is kept of an answer cannot be read from the database', async (t) => {
  const w = await world()
  t.teardown(w.close)
  await w.org.owner.post(invoices(w), { values: { notes: 'plainly visible' } }, { 'idempotency-key': 'sealed' })
  const { rows } = await w.db.query(`select encode(answer, 'escape') as text from kept_answers`)
  t.false(rows[0].text.includes('plainly'))
})
