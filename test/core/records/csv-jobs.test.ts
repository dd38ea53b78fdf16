import test from 'ava'
import { createMember } from '#test/support/factories.ts'
import { countRows } from '#test/support/rows.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const shared = shareWorld(test)

const locations = (w: World) => `${w.org.path}/records/locations`
const csv = { 'content-type': 'text/csv' }

test('csv jobs: an import creates the good rows and reports the others', async (t) => {
  const w = await shared()
  const file = 'name,address,ignored\r\nHome,"1, Main\r\nStreet",x\r\n,nowhere,y\r\nWork,,\r\na,b,c,d\r\n'
  const answer = await w.org.owner.post(`${locations(w)}/import`, file, csv)
  t.is(answer.status, 200, answer.text)
  t.like(answer.data, { created: 2, failed: 2 })
  t.deepEqual(
    answer.data.errors.map(({ row }: { row: number }) => row),
    [2, 4],
  )
  t.regex(answer.data.errors[0].message, /name is required/)
  t.is(await countRows(w.db, 'job_files', w.org.id), 0)
})

test('csv jobs: an export imported again exports the same cells', async (t) => {
  const w = await shared()
  const tricky = ['=1+1', "'=x", '+49 123 456', '-5', '@x', 'a"b', ' padded ', 'line\nbreak', "''+", '\tx', 'ü😀']
  for (const name of tricky) t.is((await w.org.owner.post(locations(w), { values: { name, address: `${name}|` } })).status, 201)
  const first = await w.org.owner.get(`${locations(w)}/export?sort=created_at&dir=asc`)
  t.is(first.status, 200, first.text)
  t.is(first.headers.get('content-type'), 'text/csv; charset=utf-8')
  t.is(first.headers.get('x-export-truncated'), null)
  const again = await w.org.owner.post(`${locations(w)}/import`, first.text, csv)
  t.like(again.data, { created: tricky.length, failed: 0 })
  const second = await w.org.owner.get(`${locations(w)}/export?sort=created_at&dir=asc`)
  const cells = (text: string) => text.replaceAll(/^[0-9a-f-]{36},[^,]*,/gm, '')
  t.is(cells(second.text), cells(first.text) + cells(first.text).slice(cells(first.text).indexOf('\r\n') + 2))
})

test('csv jobs: more than 500 rows are refused before anything is created', async (t) => {
  const w = await shared()
  const rows = (count: number) => `name\n${'x\n'.repeat(count)}`
  const tooMany = await w.org.owner.post(`${locations(w)}/import`, rows(501), csv)
  t.is(tooMany.status, 400)
  t.is((await w.org.owner.get(`${locations(w)}?offset=0`)).data.total, 0)
  t.like((await w.org.owner.post(`${locations(w)}/import`, rows(500), csv)).data, { created: 500, failed: 0 })
})

test('csv jobs: respond-async answers 202 with a job that shows progress and keeps the file', async (t) => {
  const w = await shared()
  await w.org.owner.post(locations(w), { values: { name: 'x' } })
  const answer = await w.org.owner.get(`${locations(w)}/export`, { prefer: 'respond-async' })
  t.is(answer.status, 202)
  t.is(answer.headers.get('preference-applied'), 'respond-async')
  const path = new URL(answer.headers.get('location') ?? '').pathname
  t.is(path, `${w.org.path}/jobs/${answer.data.job_id}`)
  await w.drain()
  t.like((await w.org.owner.get(path)).data, { kind: 'records.export', status: 'done', progress: { done: 1, total: 1 }, result: null })
  const file = await w.org.owner.get(`${path}/result`)
  t.is(file.status, 200)
  t.regex(file.text, /^id,created_at,name,address,timezone\r\n/)
})

test('csv jobs: an export holds only what its caller may export and read', async (t) => {
  const w = await shared()
  for (const [name, address] of [
    ['a', 'secret'],
    ['b', 'secret'],
    ['c', 'secret'],
  ]) {
    await w.org.owner.post(locations(w), { values: { name, address } })
  }
  const { client } = await createMember(w, w.org, [
    { effect: 'allow', actions: ['records:read'], condition: { 'resource.name': { ne: 'a' } }, fields: { deny: ['address'] } },
    { effect: 'allow', actions: ['records:export'], condition: { 'resource.name': { ne: 'b' } } },
  ])
  const { text } = await client.get(`${locations(w)}/export`)
  t.regex(text, /^id,created_at,name,timezone\r\n[^\n]*,c,\r\n$/)
  t.is((await client.post(`${locations(w)}/import`, 'name\nx', csv)).status, 403)
})

test('csv jobs: an upload without the part named file, or of another type, is 400 and leaves nothing', async (t) => {
  const w = await shared()
  const form = new FormData()
  form.set('other', new Blob(['name\nx']), 'x.csv')
  t.is((await w.org.owner.post(`${locations(w)}/import`, form)).status, 400)
  t.is((await w.org.owner.post(`${locations(w)}/import`, '{}', { 'content-type': 'application/json' })).status, 400)
  form.set('file', new Blob(['name\nx']), 'x.csv')
  form.delete('other')
  t.like((await w.org.owner.post(`${locations(w)}/import`, form)).data, { created: 1, failed: 0 })
  t.is(await countRows(w.db, 'job_files', w.org.id), 0)
})
