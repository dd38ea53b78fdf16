import test from 'ava'
import { callKontor } from '#test/bin/call.ts'
import { usedWorld } from '#test/core/types/indexes/used.ts'

test('indexes: the operator sees every index that follows use, and every planned one', async (t) => {
  const w = await usedWorld(t)
  t.is((await callKontor(w, 'indexes')).out, 'No field is used enough for an index of its own.\n')
  await w.use('count', 'equality', 300)
  await w.use('count', 'range', 20)
  await w.use('due', 'descending', 150)
  await w.follow()
  await w.use('name', 'contains', 250)
  const { code, json } = await callKontor(w, 'indexes', '--json')
  t.is(code, 0)
  t.like(json.indexes[0], {
    workspace_id: w.org.id,
    type: 'deals',
    field: 'count',
    kind: 'value',
    state: 'ready',
    why: 'equality 300, range 20',
    records: 12_000,
    uses: 320,
    scans: 0,
    last_scan_at: null,
  })
  t.true(json.indexes[0].size_bytes > 100_000)
  t.true(Date.parse(json.indexes[0].built_at) >= Date.parse(json.indexes[0].last_used_at))
  t.is(new Date(json.indexes[0].last_used_at).toDateString(), new Date().toDateString())
  t.like(json.indexes[1], { field: 'name', kind: 'trigram', state: 'wanted', size_bytes: 0 })
  t.like(json.indexes[2], { field: 'due', kind: 'descending', state: 'watched', why: 'descending 150 of 200' })
  const { out } = await callKontor(w, 'indexes')
  t.regex(
    out,
    new RegExp(
      `^workspace ${w.org.id}\n  deals\\.count  value       ready    0\\.\\d MB  12000 records  0 scans  20.*Z  equality 300, range 20\n`,
    ),
  )
})

test('indexes: the list of one workspace also contains the indexes that fields always have', async (t) => {
  const w = await usedWorld(t)
  const made = { entity_type: 'deals', key: 'code', label: 'Code', type: 'string', unique: true }
  t.is((await w.org.owner.post(`${w.org.path}/fields`, made)).status, 201)
  const { json } = await callKontor(w, 'indexes', '--org', w.org.id, '--json')
  const ofDeals = json.indexes.filter(({ type }: { type: string }) => type === 'deals')
  t.deepEqual(
    ofDeals.map(({ field, kind, state, why }: Record<string, string>) => [field, kind, state, why]),
    [
      ['owner_id', 'ref', 'ready', 'it is a reference'],
      ['code', 'unique', 'ready', 'its values are unique'],
    ],
  )
  t.is((await callKontor(w, 'indexes', w.idOf('count'))).code, 1, 'there is no such workspace')
})
