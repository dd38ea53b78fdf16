import test from 'ava'
import { holdAt } from '#test/core/records/hold.ts'
import { importInto, importWith, records, totalOf, typeOf, valuesOf } from '#test/core/records/importing.ts'
import { countAuditEntries } from '#test/core/records/rows.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const take = shareWorld(test)
const byCode = { upsert_by: 'code' }

test('upserts: imports of the same new keys at once create each once, and change or leave it in the others', async (t) => {
  const w = await take()
  await typeOf(w, 'codes', { code: { unique: true }, note: {} })
  const codes = Array.from({ length: 200 }, (_, index) => `c${index}`)
  const file = (index: number) => {
    const order = index % 2 ? codes : codes.toReversed()
    return `code,note\n${order.map((code) => `${code},n${index % 3}`).join('\n')}\n`
  }
  const answers = await Promise.all(Array.from({ length: 8 }, (_, index) => importWith(w, 'codes', byCode, file(index))))
  const sum = (name: string) => answers.reduce((total, { data }) => total + data[name], 0)
  for (const { status, text } of answers) t.is(status, 200, text)
  t.is(sum('failed'), 0)
  t.is(sum('created'), 200)
  t.is(sum('updated') + sum('unchanged'), 7 * 200)
  t.is(await totalOf(w, 'codes'), 200)
  t.is(await countAuditEntries(w.db, w.org.id, { objectType: 'codes', action: 'record.created' }), 200)
  t.is(await countAuditEntries(w.db, w.org.id, { objectType: 'codes', action: 'record.updated' }), sum('updated'))
})

test('upserts: an import whose key is created between its lookup and its creation changes that record', async (t) => {
  const w = await take()
  await typeOf(w, 'codes', { code: { unique: true }, note: {} })
  const hold = await holdAt(w, 'held', { type: 'codes', field: 'note' })
  const importing = importWith(w, 'codes', byCode, 'code,note\nb,x\na,held\n')
  await hold.reached()
  const created = await w.org.owner.post(records(w, 'codes'), { values: { code: 'a', note: 'first' } })
  t.is(created.status, 201, created.text)
  await hold.release()
  t.like((await importing).data, { created: 1, updated: 1, failed: 0 })
  t.deepEqual((await valuesOf(w, 'codes')).map(({ code, note }) => `${code} ${note}`).sort(), ['a held', 'b x'])
  const { data } = await w.org.owner.get(`${records(w, 'codes')}/${created.data.id}`)
  t.is(data.values.note, 'held')
})

test('upserts: a record that is deleted or renamed while an import waits for it is created anew', async (t) => {
  const w = await take()
  await typeOf(w, 'codes', { code: { unique: true }, note: {} })
  await importInto(w, 'codes', 'code,note\na,1\nb,1\n')
  const { data } = await w.org.owner.get(`${records(w, 'codes')}?sort=code&dir=asc`)
  const [a, b] = data.records.map(({ id }: { id: string }) => id)
  const change = await w.org.owner.post(`${records(w, 'codes')}/batch`, {
    atomic: true,
    operations: [
      { op: 'delete', id: a },
      { op: 'update', id: b, values: { code: 'c' } },
    ],
  })
  t.is(change.status, 200)
  t.like((await importWith(w, 'codes', byCode, 'code,note\na,2\nb,2\nc,2\n')).data, { created: 2, updated: 1, failed: 0 })
  t.is(await totalOf(w, 'codes'), 3)
})

test('upserts: changes, deletions and imports of the same records at once leave no duplicate and no error', async (t) => {
  const w = await take()
  await typeOf(w, 'codes', { code: { unique: true }, note: {} })
  const codes = Array.from({ length: 40 }, (_, index) => `c${index}`)
  await importInto(w, 'codes', `code\n${codes.join('\n')}\n`)
  const { data } = await w.org.owner.get(`${records(w, 'codes')}?limit=100`)
  const ids: string[] = data.records.map(({ id }: { id: string }) => id)
  const answers = await Promise.all([
    ...Array.from({ length: 6 }, (_, index) =>
      importWith(
        w,
        'codes',
        byCode,
        `code,note\n${(index % 2 ? codes : codes.toReversed()).map((code) => `${code},${index}`).join('\n')}\n`,
      ),
    ),
    ...ids.slice(0, 20).map((id, index) => w.org.owner.put(`${records(w, 'codes')}/${id}/values`, { values: { note: `p${index}` } })),
    ...ids.slice(20).map((id) => w.org.owner.delete(`${records(w, 'codes')}/${id}`)),
  ])
  for (const { status, text } of answers) t.true(status < 500, text)
  for (const { data: imported } of answers.slice(0, 6)) t.is(imported.failed, 0)
  const values = await valuesOf(w, 'codes')
  t.is(new Set(values.map(({ code }) => code)).size, values.length)
})

test('upserts: a dry run beside imports writes nothing and fails no one', async (t) => {
  const w = await take()
  await typeOf(w, 'codes', { code: { unique: true }, note: {}, nr: { autogen: 'N{seq}' } })
  const file = (note: string) => `code,note\n${Array.from({ length: 100 }, (_, index) => `c${index},${note}`).join('\n')}\n`
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, index) => importWith(w, 'codes', { ...byCode, dry_run: index % 2 === 0 }, file(String(index)))),
  )
  for (const { status, text, data } of answers) {
    t.is(status, 200, text)
    t.is(data.failed, 0)
  }
  t.is(await totalOf(w, 'codes'), 100)
  t.deepEqual(
    (await valuesOf(w, 'codes'))
      .map(({ nr }) => Number(String(nr).slice(1)))
      .sort((one, other) => one - other)
      .slice(0, 2),
    [1, 2],
  )
})
