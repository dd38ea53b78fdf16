import test, { type ExecutionContext } from 'ava'
import { csv, importWith, records, totalOf, typeOf, valuesOf } from '#test/core/records/importing.ts'
import { readNextNumbers } from '#test/core/records/rows.ts'
import { createMember } from '#test/support/factories.ts'
import { countRows, setPlan } from '#test/support/rows.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const take = shareWorld(test)

const slips = (w: World, maxLength = 10) =>
  typeOf(w, 'slips', {
    sku: { unique: true },
    name: { required: true },
    price: { type: 'number' },
    nr: { unique: true, rules: { max_len: maxLength }, autogen: 'S{seq}' },
    label: { formula: 'CONCAT(nr, "/", price)' },
  })

/** What an import writes: records, audit entries, counters, counts and numbers. */
const written = async (w: World) => {
  const numbers = await readNextNumbers(w.db, w.org.id)
  const counts = await Promise.all(['audit_entries', 'record_counts'].map((table) => countRows(w.db, table, w.org.id)))
  const { text } = await w.org.owner.get(`${records(w, 'slips')}/export`)
  return { counts, numbers, text }
}

/** Judges a file, requires that nothing is written, and imports it: the answers must be the same. */
async function judgeAndImport(t: ExecutionContext, w: World, query: Readonly<Record<string, string>>, text: string, client = w.org.owner) {
  const before = await written(w)
  const judged = await importWith(w, 'slips', { ...query, dry_run: true }, text, client)
  t.is(judged.status, 200, judged.text)
  t.deepEqual(await written(w), before)
  const imported = await importWith(w, 'slips', { ...query, dry_run: false }, text, client)
  t.deepEqual({ ...judged.data }, { ...imported.data })
  return imported.data
}

test('dry run: rows are judged as an import judges them, those of later steps too, and nothing is written', async (t) => {
  const w = await take()
  await slips(w)
  await importWith(w, 'slips', {}, 'sku,name,price\nA,one,1\nB,two,2\n')
  const rows = Array.from({ length: 300 }, (_, index) => `n${index},name,${index}`)
  const text = `sku,name,price\nA,one,1\nB,,5\nC,,1\n,x,ten\n${rows.join('\n')}\nn0,again,1\nA,again,1\n`
  t.like(await judgeAndImport(t, w, { upsert_by: 'sku' }, text), { created: 300, updated: 1, unchanged: 1, failed: 4 })
  // Without upsert_by the database finds the duplicates, across steps too.
  t.like(await judgeAndImport(t, w, {}, text), { created: 0, failed: 306 })
  const more = rows.map((row) => `m${row}`)
  t.like(await judgeAndImport(t, w, {}, `sku,name,price\n${more.join('\n')}\nmn0,again,1\n`), { created: 300, failed: 1 })
})

test('dry run: numbers are counted on without being taken, and those that records hold are skipped', async (t) => {
  const w = await take()
  await slips(w, 3)
  t.like(await judgeAndImport(t, w, {}, 'name,nr\na,S1\nb,S3\nc,\nd,\n'), { created: 4, failed: 0 })
  t.deepEqual(
    (await valuesOf(w, 'slips')).map(({ nr }) => nr),
    ['S1', 'S3', 'S2', 'S4'],
  )
  // The numbers from S100 on are too long for their field.
  const { created, failed, errors } = await judgeAndImport(t, w, {}, `name\n${'x\n'.repeat(120)}`)
  t.deepEqual([created, failed], [95, 25])
  t.deepEqual({ ...errors[0] }, { row: 96, message: 'values.nr must be at most 3 characters long, got 4' })
})

test('dry run: conditions and the free plan hold as in an import', async (t) => {
  const w = await take()
  await slips(w)
  const rules = [{ effect: 'allow', actions: ['records:*'], condition: { 'resource.name': { ne: 'south' } } }]
  const { client } = await createMember(w, w.org, rules)
  t.like(await judgeAndImport(t, w, { upsert_by: 'sku' }, 'sku,name\nA,north\nB,south\n', client), { created: 1, failed: 1 })
  await setPlan(w.db, w.org.id, 'free')
  const cap = w.config.freePlan.records
  for (let left = cap - 3; left > 0; left -= 500) await importWith(w, 'locations', {}, `name\n${'x\n'.repeat(Math.min(left, 500))}`)
  t.like(await judgeAndImport(t, w, { upsert_by: 'sku' }, 'sku,name\nC,c\nA,a\nD,d\nE,e\n'), { created: 2, updated: 1, failed: 1 })
})

test('dry run: a caller who may not import, and a file that does not fit, get the answers of an import', async (t) => {
  const w = await take()
  await slips(w)
  const { client } = await createMember(w, w.org, [{ effect: 'allow', actions: ['records:read', 'records:create'] }])
  t.is((await importWith(w, 'slips', { dry_run: true }, 'sku\nA\n', client)).status, 403)
  t.is((await importWith(w, 'slips', { dry_run: true }, 'other\nA\n')).status, 400)
  t.is((await importWith(w, 'slips', { dry_run: true }, `sku\n${'x\n'.repeat(501)}`)).status, 400)
  t.is((await importWith(w, 'nothing', { dry_run: true }, 'sku\nA\n')).status, 404)
  t.is(await totalOf(w, 'slips'), 0)
})

test('dry run: nothing that listens hears of the rows', async (t) => {
  const w = await take()
  await slips(w)
  const rule = { name: 'New', object_type: 'slips', event: 'created', title: 'New' }
  const made = await w.org.owner.post(`${w.org.path}/notification-rules`, rule)
  t.is(made.status, 201, made.text)
  await importWith(w, 'slips', { dry_run: true }, 'sku,name\nA,one\n')
  await w.drain()
  t.is((await w.org.owner.get(`${w.org.path}/notifications`)).data.length ?? 0, 0)
  await w.org.owner.post(`${records(w, 'slips')}/import`, 'sku,name\nA,one\n', csv)
  await w.drain()
  t.is(await countRows(w.db, 'notifications', w.org.id), 1)
})
