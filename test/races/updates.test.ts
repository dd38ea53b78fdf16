import test from 'ava'
import { schemaOf } from '#shared/core/types/tables/table-names.ts'
import { atOnce, made, makeType, openArena, rounds, tally } from '#test/races/arena.ts'
import { isChangedInFuture, setUpdatedAt } from '#test/races/rows.ts'
import { whileWaiting } from '#test/support/waiting.ts'

const arena = openArena(test)
const keys = Array.from({ length: 100 }, (_, index) => `field_${index}`)

test('updates: changes of 100 fields of one record by 100 writers are all stored, and computed fields match', async (t) => {
  const ring = await arena.ring()
  const fields = Object.fromEntries(keys.map((key) => [key, { type: 'number' }]))
  const { records, fields: ids } = await makeType(ring, 'sheets', { ...fields, total: { type: 'number' } })
  await made(ring.owner.put(`${ring.path}/fields/${ids.total}/formula`, { formula: `SUM(${keys.join(',')})` }))
  const { id } = await made(ring.owner.post(records))
  for (let round = 1; round <= rounds / 4; round++) {
    const answers = await atOnce(100, ring.owners, (client, index) =>
      client.put(`${records}/${id}/values`, { values: { [keys[index] ?? '']: round * index } }),
    )
    t.deepEqual(tally(answers), { 204: 100 })
    const { values } = (await ring.owners[round % 2 === 0 ? 0 : 1].get(`${records}/${id}`)).data
    t.deepEqual(
      keys.map((key) => values[key]),
      keys.map((_, index) => round * index),
    )
    t.is(values.total, round * 4950)
  }
})

test('updates: one of 20 changes of one version succeeds and 19 are refused', async (t) => {
  const ring = await arena.ring()
  const { records } = await makeType(ring, 'notes', { text: {} })
  const { id } = await made(ring.owner.post(records))
  const path = `${records}/${id}`
  for (let round = 0; round < rounds; round++) {
    const version = (await ring.owner.get(path)).headers.get('etag') ?? ''
    const answers = await atOnce(20, ring.owners, (client, index) =>
      client.put(`${path}/values`, { values: { text: `${round}: ${index}` } }, { 'if-match': version }),
    )
    t.deepEqual(tally(answers), { 204: 1, 412: 19 })
    const winner = answers.findIndex(({ status }) => status === 204)
    t.is((await ring.owner.get(path)).data.values.text, `${round}: ${winner}`)
  }
})

test('updates: one of several changes and deletions of one version succeeds', async (t) => {
  const ring = await arena.ring()
  const { records } = await makeType(ring, 'notes', { text: {} })
  for (let round = 0; round < rounds; round++) {
    const path = `${records}/${(await made(ring.owner.post(records))).id}`
    const version = { 'if-match': (await ring.owner.get(path)).headers.get('etag') ?? '' }
    const answers = await atOnce(12, ring.owners, (client, index) =>
      index % 4 < 2 ? client.put(`${path}/values`, { values: { text: `${index}` } }, version) : client.delete(path, version),
    )
    const isGone = (await ring.owner.get(path)).status === 404
    t.deepEqual(tally(answers), isGone ? { 204: 1, 404: 11 } : { 204: 1, 412: 11 })
  }
})

test('updates: a record is deleted once, and every change was made before', async (t) => {
  const ring = await arena.ring()
  const { records } = await makeType(ring, 'notes', { text: {} })
  for (let round = 0; round < rounds; round++) {
    const { id } = await made(ring.owner.post(records))
    const answers = await atOnce(20, ring.owners, async (client, index) => {
      const change =
        index % 4 === 0 ? client.delete(`${records}/${id}`) : client.put(`${records}/${id}/values`, { values: { text: `${index}` } })
      return { ...(await change), isDeletion: index % 4 === 0 }
    })
    t.deepEqual(tally(answers.filter(({ isDeletion }) => isDeletion)), { 204: 1, 404: 4 })
    const changed = answers.filter(({ isDeletion, status }) => !isDeletion && status === 204).length
    const { entries } = (await ring.owner.get(`${ring.path}/audit?record_id=${id}&limit=200`)).data
    const actions = entries.map(({ action }: { action: string }) => action.replace('record.', ''))
    t.deepEqual(actions, ['deleted', ...Array(changed).fill('updated'), 'created'])
  }
})

/** An instant with all six digits of its fraction, so that texts sort by time. */
const inFull = (instant: string): string => instant.replace(/(?:\.(\d+))?Z$/, (_, places = '') => `.${places.padEnd(6, '0')}Z`)

test('updates: a change that began first and committed second has the later version', async (t) => {
  const ring = await arena.ring()
  const w = arena.world()
  const { records } = await makeType(ring, 'notes', { text: {} })
  const path = `${records}/${(await made(ring.owner.post(records))).id}`
  const read = async () => {
    const { headers, data } = await ring.owner.get(path)
    return { etag: headers.get('etag'), at: inFull(data.updated_at) }
  }
  const table = `${schemaOf(ring.id)}.notes`
  // As if the other transaction's clock were an hour ahead, and as if both had begun at the same moment.
  for (const time of [`now() + interval '1 hour'`, 'updated_at']) {
    const versions = [await read()]
    const change = () => ring.owner.put(`${path}/values`, { values: { text: time } })
    t.is((await whileWaiting(w, (other) => setUpdatedAt(other, table, time), change)).status, 204)
    versions.push(await read())
    t.true(await isChangedInFuture(w.db, table))
    t.not(versions[0]?.etag, versions[1]?.etag)
    t.true((versions[0]?.at ?? '') < (versions[1]?.at ?? ''))
  }
})

test('updates: changes of different settings are all stored', async (t) => {
  const ring = await arena.ring()
  const { owner, path } = ring
  await makeType(ring, 'notes', { text: {} })
  const rule = await made(owner.post(`${path}/notification-rules`, { name: 'R', object_type: 'notes', event: 'created', title: 'T' }))
  const fn = await made(owner.post(`${path}/functions`, { name: 'F', source: 'function handler() {}' }))
  await made(owner.post(`${path}/modules`, { slug: 'menu', name: 'M' }))
  for (let round = 0; round < rounds; round++) {
    const things: readonly [method: string, at: string, ...changes: Record<string, unknown>[]][] = [
      [
        'PATCH',
        '/types/notes',
        { label: `label ${round}` },
        { icon: `icon ${round}` },
        { app: `app_${round}` },
        { description: `${round}` },
      ],
      ['PUT', `/notification-rules/${rule.id}`, { name: `name ${round}` }, { title: `title ${round}` }, { enabled: round % 2 === 0 }],
      ['PUT', `/functions/${fn.id}`, { description: `${round}` }, { timeout_ms: 1_000 + round }, { http_enabled: round % 2 === 0 }],
      ['POST', '/modules', { slug: 'menu', name: 'M', glyph: `g ${round}` }, { slug: 'menu', name: 'M', category: `c ${round}` }],
      [
        'PATCH',
        '',
        { name: `Ring ${round}` },
        { timezone: round % 2 === 0 ? 'Europe/Berlin' : 'UTC' },
        { apps: { payments: round % 2 === 0 } },
      ],
    ]
    const calls = things.flatMap(([method, at, ...changes]) => changes.map((body) => ({ method, at, body })))
    const answers = await atOnce(calls.length, ring.owners, async (client, index) => {
      const { method = '', at = '', body } = calls[index] ?? {}
      return client.send(method, path + at, body)
    })
    t.deepEqual(tally(answers), { 200: calls.length })
    const kept = await Promise.all(
      things.map(async ([, at]) => {
        const { data } = await owner.get(path + (at === '/types/notes' ? '/types' : at))
        return at === '/types/notes' ? data.at(-1) : at === '/modules' ? data[0] : data
      }),
    )
    for (const [place, [, , ...changes]] of things.entries()) t.like(kept[place], Object.assign({}, ...changes))
  }
})
