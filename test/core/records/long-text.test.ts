import { readFileSync } from 'node:fs'
import test from 'ava'
import { eventually, longestWaitMs } from '#test/support/eventually.ts'
import { createMember } from '#test/support/factories.ts'
import { countOpenOperations } from '#test/support/rows.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { startWorkerProcess } from '#test/support/worker-process.ts'
import type { World } from '#test/support/world.ts'

const shared = shareWorld(test)
const withoutWorkers = shareWorld(test, {}, { pools: [] })

const csv = { 'content-type': 'text/csv' }
const mostGrowthMb = 100

/** Creates a type whose formulas produce some 240,000 UTF-16 units for each record, and twice as many bytes. */
async function longPages(w: World): Promise<{ path: string; write: (letter: string) => Promise<void> }> {
  const { owner, path } = w.org
  await owner.post(`${path}/types`, { key: 'pages', label: 'Pages' })
  const field = async (key: string, type: string): Promise<string> =>
    (await owner.post(`${path}/fields`, { entity_type: 'pages', key, label: key, type })).data.id
  await field('title', 'string')
  const ids = [await field('one', 'text'), await field('two', 'text'), await field('three', 'text')]
  const write = async (letter: string) => {
    for (const id of ids) await owner.put(`${path}/fields/${id}/formula`, { formula: `REPT("${letter}", 40000)` })
  }
  return { path: `${path}/records/pages`, write }
}

test('long text: the formulas of one record have equal shares of its text, whatever the others produce', async (t) => {
  const w = await shared()
  const { owner, path } = w.org
  await owner.post(`${path}/types`, { key: 'pages', label: 'Pages' })
  const field = async (key: string, type: string, formula: string | null) => {
    const { id } = (await owner.post(`${path}/fields`, { entity_type: 'pages', key, label: key, type })).data
    if (formula !== null) t.is((await owner.put(`${path}/fields/${id}/formula`, { formula })).status, 200)
  }
  await field('length', 'number', null)
  await field('one', 'text', 'REPT("x", length)')
  await field('two', 'text', 'REPT("x", 100000)')
  await field('short', 'string', 'REPT("x", 500)')
  const lengthsOf = async (length: number) => {
    const { values } = (await owner.post(`${path}/records/pages`, { values: { length } })).data
    return ['one', 'two', 'three', 'short'].map((key) => values[key]?.length ?? 0)
  }
  t.deepEqual(await lengthsOf(100_000), [100_000, 100_000, 0, 500])
  await field('three', 'text', 'REPT("x", 83333)')
  t.deepEqual(await lengthsOf(83_333), [83_333, 0, 83_333, 500])
  t.deepEqual(await lengthsOf(83_334), [0, 0, 83_333, 500])
})

test('long text: a formula has its share of steps, whatever the others take', async (t) => {
  const w = await shared()
  const { owner, path } = w.org
  await owner.post(`${path}/types`, { key: 'pages', label: 'Pages' })
  await owner.post(`${path}/fields`, { entity_type: 'pages', key: 'length', label: 'Length', type: 'number' })
  const heavy = `LEN(SUBSTITUTE(REPT("x", length), "x", "y"))${'+LEN(SUBSTITUTE(REPT("x", length), "x", "y"))'.repeat(19)}`
  for (const key of ['first', 'second', 'third', 'last']) {
    const { id } = (await owner.post(`${path}/fields`, { entity_type: 'pages', key, label: key, type: 'number' })).data
    const formula = key === 'last' ? 'LEN(REPT("x", 50000))' : heavy
    t.is((await owner.put(`${path}/fields/${id}/formula`, { formula })).status, 200)
  }
  for (const length of [10, 50_000]) {
    const { values } = (await owner.post(`${path}/records/pages`, { values: { length } })).data
    t.is(values.last, 50_000, String(length))
    t.is(values.first, length === 10 ? 200 : null)
  }
})

test('long text: the records of a batch have a common limit of text, and further ones are refused', async (t) => {
  const w = await shared()
  const { owner } = w.org
  const { path, write } = await longPages(w)
  await write('x')
  const operations = [...Array.from({ length: 90 }, () => ({ op: 'create' })), { op: 'delete', id: 'nothing' }]
  const { data } = await owner.post(`${path}/batch`, { operations })
  const statuses = data.results.map(({ status }: { status: number }) => status)
  t.deepEqual(statuses, [...Array(83).fill(201), ...Array(7).fill(400), 404])
  t.is((await owner.get(`${path}?offset=0&limit=1`)).data.total, 83)
})

test('long text: a page with much text ends early, and a search with too much text is refused', async (t) => {
  const w = await shared()
  const { owner } = w.org
  const { path, write } = await longPages(w)
  await write('é')
  for (const count of [70, 70]) {
    const { data } = await owner.post(`${path}/import`, `title\n${'t\n'.repeat(count)}`, csv)
    t.is(data.created, count)
  }
  const sizes: number[] = []
  const ids = new Set<string>()
  for (let query = '?limit=200'; query; ) {
    const { data } = await owner.get(`${path}${query}`)
    sizes.push(data.records.length)
    for (const { id } of data.records) ids.add(id)
    query = data.next_cursor ? `?limit=200&cursor=${data.next_cursor}` : ''
  }
  t.deepEqual(sizes, [34, 34, 34, 34, 4])
  t.is(ids.size, 140)
  t.is((await owner.get(`${path}?limit=10`)).data.records.length, 10)
  const refused = await owner.get(`${path}?page=1&limit=140`)
  t.is(refused.status, 400)
  const bound = 'together these records hold more than 10 MB of text in all the fields that you see, selected or not'
  t.is(refused.body.error.message, `limit must be less than 140 here: ${bound}`)
  t.is((await owner.get(`${path}?page=1&limit=35`)).data.records.length, 35)
  t.like((await owner.get(`${path}?page=3&limit=100`)).data, { records: [], total: 140 })
  const audit = (limit: number) => owner.get(`${w.org.path}/audit?object_type=pages&limit=${limit}`)
  t.regex((await audit(140)).body.error.message, /^limit must be less than 140/)
  t.like((await audit(35)).data, { total: 140 })
  t.deepEqual(Object.keys((await audit(1)).data.entries[0]).length, 13)
})

test('long text: a page is measured by the text that the caller sees, so that it tells no length of hidden text', async (t) => {
  const w = await shared()
  const { owner, path } = w.org
  await owner.post(`${path}/types`, { key: 'pages', label: 'Pages' })
  for (const [key, type] of [
    ['title', 'string'],
    ['note', 'text'],
    ['secret', 'text'],
    ['open', 'bool'],
  ])
    await owner.post(`${path}/fields`, { entity_type: 'pages', key, label: key, type })
  const records = `${path}/records/pages`
  const create = async (count: number, row: string) =>
    t.is((await owner.post(`${records}/import`, `title,secret,open\n${row.repeat(count)}`, csv)).data.created, count)
  const text = 'x'.repeat(100_000)
  await create(60, `hidden,${text},false\n`)
  await create(60, `shown,${text},true\n`)
  t.is((await owner.get(`${records}?page=1&limit=120`)).status, 400)

  const reader = async (...rules: object[]) => (await createMember(w, w.org, rules)).client
  const allow = (more: object) => ({ effect: 'allow', actions: ['records:read', 'audit:read'], ...more })
  const blind = await reader(allow({ fields: { deny: ['secret'] } }))
  const partly = await reader(allow({}), allow({ condition: { 'resource.open': { eq: false } }, fields: { deny: ['secret', 'open'] } }))
  for (const [client, shown] of [
    [blind, 0],
    [partly, 60],
  ] as const) {
    for (const query of ['limit=200', 'page=1&limit=200', 'page=1&limit=200&sort=title&fields=title,secret&dir=asc'].slice(0, shown || 2)) {
      const { data } = await client.get(`${records}?${query}`)
      t.is(data.records.length, 120, query)
      const seen = data.records.filter(({ values }: { values: object }) => 'secret' in values)
      t.is(seen.length, shown, query)
      t.true(seen.every(({ values }: { values: { title: string; secret: string } }) => values.title === 'shown' && values.secret === text))
    }
  }
  const entries = await blind.get(`${path}/audit?object_type=pages&limit=120`)
  t.deepEqual([entries.data.entries.length, entries.data.total], [120, 120], 'the audit too')
  t.false(entries.text.includes('xxx'))
  const open = await reader(allow({}))
  t.regex((await open.get(`${path}/audit?object_type=pages&limit=120`)).body.error.message, /^limit must be less than 120/)
  await create(41, `shown,${text},true\n`)
  t.is((await partly.get(`${records}?page=1&limit=200`)).status, 400, 'the text that it sees is too long')
  t.is((await blind.get(`${records}?page=1&limit=200`)).data.records.length, 161)
})

// Other systems have no /proc.
const onLinux = process.platform === 'linux' ? test : test.skip

/** Resident memory of a process, in megabytes. */
const residentMb = (pid: number): number => Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

onLinux(
  `long text: importing and computing 60 records of 500 kB each changes a worker’s memory by less than ${mostGrowthMb} MB`,
  async (t) => {
    const w = await withoutWorkers()
    const { owner } = w.org
    const { path, write } = await longPages(w)
    await write('😀')
    const { pid } = await startWorkerProcess(t, w, 'data')
    t.is((await owner.post(`${path}/import`, 'title\nfirst\n', csv)).data.created, 1)
    const before = residentMb(pid)
    t.is((await owner.post(`${path}/import`, `title\n${'t\n'.repeat(59)}`, csv)).data.created, 59)
    const imported = Math.round(residentMb(pid) - before)
    await write('é')
    // Some 30 MB of text are computed.
    await eventually(async () => (await countOpenOperations(w.db, w.org.id, 'records.recompute')) === 0, longestWaitMs)
    t.is((await owner.get(`${path}?limit=1&fields=three`)).data.records[0].values.three, 'é'.repeat(40_000))
    const computed = Math.round(residentMb(pid) - before)
    t.log(`grew by ${imported} and ${computed} MB from ${Math.round(before)}`)
    t.true(Math.max(imported, computed) < mostGrowthMb, `grew by ${imported} and ${computed} MB`)
  },
)
