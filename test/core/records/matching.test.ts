import test from 'ava'
import { schemaOf } from '#shared/core/types/tables/table-names.ts'
import type { Dispatch } from '#shared/platform/events/numbering-store.ts'
import { createDeals } from '#test/core/records/deals.ts'
import { fillRecords } from '#test/core/records/fill.ts'
import { countAuditEntries, countStoredRecords, deleteStoredRecord, setStoredValue } from '#test/core/records/rows.ts'
import { readCauses } from '#test/support/audit.ts'
import { receiveEvents } from '#test/support/events.ts'
import { createMember, createOrg } from '#test/support/factories.ts'
import { lockRows } from '#test/support/locks.ts'
import { readColumn } from '#test/support/rows.ts'
import type { Answer } from '#test/support/send-request.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const shared = shareWorld(test)

const fields = [
  { key: 'name', type: 'string' },
  { key: 'stage', type: 'string' },
  { key: 'amount', type: 'number', rules: { max: 100 } },
  { key: 'code', type: 'string', unique: true },
  { key: 'born', type: 'string', immutable: true },
  { key: 'parent', type: 'ref', rules: { ref_type: 'deals' } },
]

interface Listed {
  readonly id: string
  readonly values: Readonly<Record<string, unknown>>
}

/** Deals with these values, and what changes, deletes and reads those that match. */
async function withDeals(w: World, values: readonly Readonly<Record<string, unknown>>[] = []) {
  const { owner } = w.org
  const { records } = await createDeals(w, fields)
  const operations = values.map((one) => ({ op: 'create', values: one }))
  const made = values.length > 0 ? (await owner.post(`${records}/batch`, { operations, atomic: true })).data.results : []
  const ids: string[] = made.map(({ record }: { record: Listed }) => record.id)
  return {
    records,
    ids,
    update: (filter: unknown, changed: object, client = owner): Promise<Answer> =>
      client.post(`${records}/update-where`, { filter, values: changed }),
    remove: (filter: unknown, client = owner): Promise<Answer> => client.post(`${records}/delete-where`, { filter }),
    /** The values of a field, oldest record first. */
    column: async (key: string) =>
      (await owner.get(`${records}?sort=created_at&dir=asc&limit=200`)).data.records.map((record: Listed) => record.values[key]),
  }
}

const is = (field: string, value: string) => ({ field, op: 'eq', value })

test('matching: update-where changes what matches, and counts what really changed', async (t) => {
  const w = await shared()
  const { update, column, records } = await withDeals(w, [
    { name: 'a', stage: 'new', amount: 1 },
    { name: 'b', stage: 'won', amount: 2 },
    { name: 'c', stage: 'new', amount: 5 },
    { name: 'd', amount: 4 },
  ])
  const answer = await update([is('stage', 'new')], { amount: 5 })
  t.is(answer.status, 200, answer.text)
  t.deepEqual(answer.data, { matched: 2, changed: 1, skipped: [] })
  t.deepEqual(await column('amount'), [5, 2, 5, 4])
  t.is(await countAuditEntries(w.db, w.org.id, { action: 'record.updated' }), 1)
  const nested = { any: [is('stage', 'won'), { not: { field: 'stage', op: 'not_empty' } }] }
  t.deepEqual((await update(nested, { stage: 'lost', amount: null })).data, { matched: 2, changed: 2, skipped: [] })
  t.deepEqual(await column('stage'), ['new', 'lost', 'new', 'lost'])
  t.deepEqual((await update({ any: [] }, { stage: 'x' })).data, { matched: 0, changed: 0, skipped: [] })
  for (const all of [[], { all: [] }]) t.like((await update(all, { stage: `all ${JSON.stringify(all)}` })).data, { matched: 4, changed: 4 })
  t.deepEqual((await update([], {})).data, { matched: 4, changed: 0, skipped: [] })
  t.is((await w.org.owner.get(`${records}?offset=0`)).data.total, 4)
})

test('matching: delete-where deletes what matches', async (t) => {
  const w = await shared()
  const { remove, column } = await withDeals(
    w,
    ['a', 'b', 'c'].map((name) => ({ name })),
  )
  t.deepEqual((await remove({ field: 'name', op: 'in', value: ['a', 'c', 'z'] })).data, { matched: 2, changed: 2, skipped: [] })
  t.deepEqual(await column('name'), ['b'])
  t.deepEqual((await remove([])).data, { matched: 1, changed: 1, skipped: [] })
  t.deepEqual((await remove([])).data, { matched: 0, changed: 0, skipped: [] })
  t.is(await countStoredRecords(w.db, w.org.id), 0)
  t.is(await countAuditEntries(w.db, w.org.id, { action: 'record.deleted' }), 3)
})

test('matching: a record that its own rules refuse is skipped with its code, the others are changed', async (t) => {
  const w = await shared()
  const { update, column, ids } = await withDeals(w, [
    { name: 'a', code: 'A', born: 'here' },
    { name: 'b', born: 'here' },
    { name: 'c', code: 'C' },
    { name: 'd', code: 'X' },
  ])
  const [a, b, c, d] = ids
  // The value that one of them holds already stays there.
  t.deepEqual((await update([], { code: 'X' })).data, {
    matched: 4,
    changed: 0,
    skipped: [a, b, c].map((id) => ({ id, code: 'DUPLICATE_VALUE' })),
  })
  // The first one gets a free value.
  t.deepEqual((await update({ field: 'name', op: 'ne', value: 'd' }, { code: 'Y' })).data, {
    matched: 3,
    changed: 1,
    skipped: [b, c].map((id) => ({ id, code: 'DUPLICATE_VALUE' })),
  })
  t.deepEqual(await column('code'), ['Y', null, 'C', 'X'])
  t.deepEqual((await update([], { born: 'here', amount: 1 })).data, {
    matched: 4,
    changed: 2,
    skipped: [c, d].map((id) => ({ id, code: 'VALIDATION_ERROR' })),
  })
  t.deepEqual(await column('amount'), [1, 1, null, null])
})

test('matching: a filter may step along a reference, and is tested for every 100 records before they are changed', async (t) => {
  const w = await shared()
  const { update, ids, column } = await withDeals(w, [
    { name: 'top', stage: 'open' },
    { name: 'else', stage: 'shut' },
  ])
  const [top, other] = ids
  await w.org.owner.put(`${w.org.path}/records/deals/${top}/values`, { values: { parent: top } })
  await w.org.owner.put(`${w.org.path}/records/deals/${other}/values`, { values: { parent: top } })
  // Closing the first one takes it, as the parent of both, out of the filter; both were tested before.
  t.deepEqual((await update(is('parent.stage', 'open'), { stage: 'closed' })).data, { matched: 2, changed: 2, skipped: [] })
  t.deepEqual(await column('stage'), ['closed', 'closed'])
  t.deepEqual((await update(is('parent.name', 'top'), { parent: null })).data, { matched: 2, changed: 2, skipped: [] })
})

test('matching: a filter or values that no record could take are 400, and nothing is changed', async (t) => {
  const w = await shared()
  const { update, remove, records } = await withDeals(w, [{ name: 'a' }])
  const { owner } = w.org
  const messageOf = ({ status, body, text }: Answer) => (status === 400 ? body.error.message : text)
  t.is(messageOf(await owner.post(`${records}/update-where`, { values: {} })), 'filter is required')
  t.is(messageOf(await owner.post(`${records}/update-where`, { filter: [] })), 'values is required')
  t.is(messageOf(await owner.post(`${records}/delete-where`)), 'filter is required')
  t.regex(messageOf(await owner.post(`${records}/delete-where`, { filters: [] })), /^filters is no key of .*; did you mean filter\?/)
  t.is(messageOf(await update([], { nothing: 1 })), 'values.nothing names no field of deals')
  t.regex(messageOf(await update([], { amount: 101 })), /^values\.amount must be at most 100/)
  t.is(messageOf(await update([], { name: { $of: 0 } })), 'values.name must be text, got {"$of":0}')
  t.regex(messageOf(await update([is('nothing', 'x')], { name: 'b' })), /^filter\[0\]\.field must be a field of deals/)
  t.regex(messageOf(await remove({ any: [], all: [] })), /^filter must have no other key beside all/)
  t.regex(messageOf(await remove([{ field: 'name', op: 'like', value: 'a' }])), /^filter\[0\]\.op must be/)
  const deep = (levels: number): unknown => (levels === 0 ? is('name', 'z') : { not: deep(levels - 1) })
  t.is((await remove(deep(4))).status, 200)
  t.regex(messageOf(await remove(deep(5))), /at most 4 levels/)
  t.is((await owner.post(`${w.org.path}/records/nothing/delete-where`, { filter: [] })).status, 404)
  t.is(await countStoredRecords(w.db, w.org.id), 1)
})

test('matching: at most 10,000 records match; the refusal has their number', async (t) => {
  const w = await shared()
  const { update, remove, records } = await withDeals(w)
  await fillRecords(w, 'deals', 10_001, { amount: 'n % 10', stage: `case when n = 10001 then 'last' else 'old' end` })
  const expected = 'filter must match at most 10000 records, got 10001; narrow it, such as by created_at'
  for (const answer of [await update([], { amount: 1 }), await remove([])]) {
    t.is(answer.status, 400)
    t.is(answer.body.error.message, expected)
  }
  const { client } = await createMember(w, w.org, [
    { effect: 'allow', actions: ['records:read', 'records:delete', 'records:update'], condition: { 'resource.stage': { ne: 'last' } } },
  ])
  // Of those that the caller may read there are 10,000.
  const body = { filter: [], values: { stage: 'old' } }
  const { data: accepted } = await client.post(`${records}/update-where`, body, { prefer: 'respond-async' })
  await w.drain()
  const { data: job } = await client.get(`${w.org.path}/jobs/${accepted.job_id}`)
  t.deepEqual(job.result, { matched: 10_000, changed: 0, skipped: [] })
  t.deepEqual((await remove(is('amount', '3'), client)).data, { matched: 1_000, changed: 1_000, skipped: [] })
  t.is((await w.org.owner.get(`${records}?offset=0`)).data.total, 9_001)
})

test('matching: what the caller may not read does not match, what it may not change is skipped, and no count tells more', async (t) => {
  const w = await shared()
  const { update, remove, ids, column } = await withDeals(w, [
    { name: 'a', stage: 'mine', amount: 1 },
    { name: 'b', stage: 'shown', amount: 1 },
    { name: 'c', stage: 'hidden', amount: 1 },
  ])
  const { client } = await createMember(w, w.org, [
    { effect: 'allow', actions: ['records:read'], condition: { 'resource.stage': { ne: 'hidden' } }, fields: { deny: ['amount'] } },
    { effect: 'allow', actions: ['records:update', 'records:delete'], condition: { 'resource.stage': { eq: 'mine' } } },
  ])
  const skipped = [{ id: ids[1], code: 'FORBIDDEN' }]
  t.deepEqual((await update([], { name: 'x' }, client)).data, { matched: 2, changed: 1, skipped })
  t.deepEqual(await column('name'), ['x', 'b', 'c'])
  // A hidden value is written though it is the same, as by a single change.
  t.deepEqual((await update(is('name', 'x'), { amount: 1 }, client)).data, { matched: 1, changed: 1, skipped: [] })
  for (const answer of [await update(is('amount', '1'), { name: 'y' }, client), await remove(is('amount', '1'), client)]) {
    t.is(answer.status, 400)
    t.is(
      answer.body.error.message,
      (await update(is('nothing', '1'), { name: 'y' }, client)).body.error.message.replace('nothing', 'amount'),
    )
  }
  t.deepEqual((await remove([], client)).data, { matched: 2, changed: 1, skipped })
  t.deepEqual(await column('name'), ['b', 'c'])
})

test('matching: who may not change or read any record of the type is refused', async (t) => {
  const w = await shared()
  const { update, remove, records } = await withDeals(w, [{ name: 'a' }])
  const callers = {
    reader: [{ effect: 'allow', actions: ['records:read'] }],
    writer: [{ effect: 'allow', actions: ['records:update', 'records:delete'] }],
    elsewhere: [{ effect: 'allow', actions: ['records:*'], resources: ['locations'] }],
  }
  for (const [name, policy] of Object.entries(callers)) {
    const { client } = await createMember(w, w.org, policy)
    for (const [answer, permission] of [
      [await update([], { name: 'b' }, client), 'records:update'],
      [await remove([], client), 'records:delete'],
    ] as const) {
      t.is(answer.status, 403, name)
      t.is(answer.body.error.message, `Needs ${name === 'writer' ? 'records:read' : permission} on deals`)
    }
  }
  const other = await createOrg(w, 'Other')
  t.is((await remove([], other.owner)).status, 404)
  t.is((await w.org.owner.get(`${records}?offset=0`)).data.total, 1)
})

test('matching: a record that another change takes out of the filter, or deletes, before it is locked is left alone', async (t) => {
  const w = await shared()
  const { records, ids, update, remove, column } = await withDeals(
    w,
    ['a', 'b', 'c', 'd', 'e'].map((name) => ({ name, stage: 'new' })),
  )
  const [, second = '', third = '', fourth = ''] = ids
  const table = `${schemaOf(w.org.id)}.deals`
  const [stage, name] = [await readColumn(w.db, w.org.id, 'deals', 'stage'), await readColumn(w.db, w.org.id, 'deals', 'name')]
  const change = async (call: () => Promise<Answer>, stages: string) => {
    const lock = await lockRows(t, w.db, table)
    const answer = call()
    await lock.waitedFor()
    await setStoredValue(lock, table, stage, second, stages)
    await deleteStoredRecord(lock, table, third)
    await setStoredValue(lock, table, name, fourth, 'D')
    // A record that begins to match after the others were picked.
    await w.org.owner.post(records, { values: { name: `late ${stages}`, stage: 'new' } })
    await lock.release()
    return (await answer).data
  }
  t.deepEqual(await change(() => update(is('stage', 'new'), { amount: 1 }), 'won'), { matched: 3, changed: 3, skipped: [] })
  t.deepEqual(await column('amount'), [1, null, 1, 1, null])
  t.deepEqual(await column('name'), ['a', 'b', 'D', 'e', 'late won'])
  t.deepEqual(await change(() => remove({ field: 'stage', op: 'in', value: ['new', 'won'] }), 'lost'), {
    matched: 4,
    changed: 4,
    skipped: [],
  })
  t.deepEqual(await column('name'), ['b', 'late lost'])
})

test('matching: a record whose reference is changed before it is locked is tested by the record that it names then', async (t) => {
  const w = await shared()
  const { ids, update, column } = await withDeals(
    w,
    ['top', 'other top', 'bottom', 'x', 'y'].map((name) => ({ name })),
  )
  const [top = '', other = '', bottom = '', x = '', y = ''] = ids
  for (const id of [x, y]) await w.org.owner.put(`${w.org.path}/records/deals/${id}/values`, { values: { parent: top } })
  const table = `${schemaOf(w.org.id)}.deals`
  const parent = await readColumn(w.db, w.org.id, 'deals', 'parent')
  const lock = await lockRows(t, w.db, table)
  const answer = update({ field: 'parent.name', op: 'contains', value: 'top' }, { amount: 7 })
  await lock.waitedFor()
  await setStoredValue(lock, table, parent, x, other)
  await setStoredValue(lock, table, parent, y, bottom)
  await lock.release()
  t.deepEqual((await answer).data, { matched: 1, changed: 1, skipped: [] })
  t.deepEqual(await column('amount'), [null, null, null, 7, null])
})

test('matching: changes and deletions announce the events of single ones', async (t) => {
  const w = await shared()
  const { update, remove, ids } = await withDeals(
    w,
    ['a', 'b', 'c'].map((name) => ({ name, amount: 1 })),
  )
  const take = await receiveEvents(t, w, [
    { objectType: 'deals', event: 'updated' },
    { objectType: 'deals', event: 'deleted' },
  ])
  const named = (dispatches: readonly Dispatch[]) =>
    dispatches.flatMap(({ event, subjectIds }) => subjectIds.map((id) => `${event} ${id}`)).sort()
  await update(is('name', 'a'), { amount: 2 })
  // The first one does not change again.
  await update([], { amount: 2 })
  t.deepEqual(named(await take(3)), ids.map((id) => `updated ${id}`).sort())
  await remove([])
  t.deepEqual(named(await take(3)), ids.map((id) => `deleted ${id}`).sort())
})

test('matching: the answer is kept under an Idempotency-Key, and the job shows it', async (t) => {
  const w = await shared()
  const { records } = await withDeals(
    w,
    ['a', 'b'].map((name) => ({ name })),
  )
  const { owner, path } = w.org
  const body = { filter: [], values: { stage: 'x' } }
  const key = { 'idempotency-key': 'k' }
  const first = await owner.post(`${records}/update-where`, body, key)
  t.deepEqual(first.data, { matched: 2, changed: 2, skipped: [] })
  t.deepEqual((await owner.post(`${records}/update-where`, body, key)).data, first.data)
  t.is(await countAuditEntries(w.db, w.org.id, { action: 'record.updated' }), 2)
  const later = await owner.post(`${records}/delete-where`, { filter: [] }, { prefer: 'respond-async' })
  t.is(later.status, 202)
  await w.drain()
  const { data } = await owner.get(`${path}/jobs/${later.data.job_id}`)
  t.like(data, { kind: 'records.change-matching', status: 'done', progress: { done: 2, total: 2 } })
  t.deepEqual(data.result, { matched: 2, changed: 2, skipped: [] })
  const causes = await readCauses(w.org, 'object_type=deals&action=record.deleted')
  t.deepEqual(causes, Array(2).fill(['deleted deals: batch', later.data.job_id]))
  const [one, other] = await readCauses(w.org, 'object_type=deals&action=record.updated')
  t.is(one?.[0], 'updated deals: batch')
  t.deepEqual(other, one)
  t.not(one?.[1], later.data.job_id)
})
