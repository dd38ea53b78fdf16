import { randomUUID } from 'node:crypto'
import test from 'ava'
import { type Scope, within } from '#shared/core/scope/scope.ts'
import { schemaOf } from '#shared/core/types/tables/table-names.ts'
import { createDeals, storedValues } from '#test/core/records/deals.ts'
import { fillRecords } from '#test/core/records/fill.ts'
import { countAuditEntries, readRecompute, readUpdatesAfter } from '#test/core/records/rows.ts'
import { eventually, longestWaitMs } from '#test/support/eventually.ts'
import { createMember } from '#test/support/factories.ts'
import { lockRow, lockRows } from '#test/support/locks.ts'
import { countOpenOperations, dropQueuedJobs, setWorkspaceStatus } from '#test/support/rows.ts'
import { scopeOf } from '#test/support/scope.ts'
import { startSecondApi } from '#test/support/second-api.ts'
import type { Answer } from '#test/support/send-request.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { startWorkerProcess } from '#test/support/worker-process.ts'
import recomputeRecords from '#workers/core/types/recompute-records.ts'
import { completed } from '#workers/platform/jobs/handler.ts'

const fields = [
  { key: 'price', type: 'number' },
  { key: 'total', type: 'number' },
]

const shared = shareWorld(test)
const withoutWorkers = shareWorld(test, {}, { pools: [] })

test('recompute: while twenty callers write through two processes, formulas are set: in the end every value is right', async (t) => {
  const w = await shared()
  const { records, fields: at } = await createDeals(w, fields)
  await fillRecords(w, 'deals', 2_000, { price: 'n' })
  const ids = (await w.org.owner.get(`${records}?limit=20`)).data.records.map(({ id }: { id: string }) => id)
  const owners = [w.org.owner, (await startSecondApi(t, w)).as(w.org.owner.token)] as const
  let changing = true
  const write = async (writer: number) => {
    for (let price = 1; changing; price++) {
      const owner = owners[writer % 2 === 0 ? 0 : 1]
      const answer =
        writer < 10
          ? await owner.post(records, { values: { price } })
          : await owner.put(`${records}/${ids[writer]}/values`, { values: { price } })
      t.true([201, 204].includes(answer.status) || answer.body?.error?.code === 'OVERLOADED', answer.text)
    }
  }
  const writers = Array.from({ length: 20 }, (_, writer) => write(writer))
  // On a busy machine the table may never be free (ORG_NOT_READY), and five attempts of a write may meet five formulas.
  const set = async (change: () => Promise<Answer>): Promise<number> => {
    const { status, body } = await change()
    return body?.error?.code === 'ORG_NOT_READY' ? set(change) : status
  }
  for (let factor = 2; factor <= 11; factor++) {
    t.is(await set(() => w.org.owner.put(`${at.total}/formula`, { formula: `price * ${factor}` })), 200)
    if (factor === 6) t.is(await set(() => w.org.owner.delete(`${at.total}/formula`)), 204)
  }
  changing = false
  await Promise.all(writers)
  await w.drain()
  const stored = await storedValues(w, 'price', 'total')
  t.true(stored.length > 2_000)
  t.deepEqual(
    stored.filter(({ price, total }) => Number(total) !== Number(price) * 11),
    [],
  )
})

test('recompute: a creation with an outdated formula is repeated with the new one', async (t) => {
  const w = await shared()
  const { records, fields: at } = await createDeals(w, [...fields, { key: 'number', type: 'string' }])
  await w.org.owner.put(`${at.number}/autogen`, { pattern: '{seq}', next: 5 })
  const counter = await lockRows(t, w.db, 'field_numbers', 'workspace_id = $1', [w.org.id])
  const creating = w.org.owner.post(records, { values: { price: 2 } })
  await counter.waitedFor()
  t.is((await w.org.owner.put(`${at.total}/formula`, { formula: 'price * 3' })).status, 200)
  await w.drain()
  await counter.release()
  t.like((await creating).data.values, { price: 2, total: 6 })
})

test('recompute: a recompute changes the versions of only the records that it changes', async (t) => {
  const w = await shared()
  const { records, fields: at } = await createDeals(w, fields)
  const [same, other] = [
    (await w.org.owner.post(records, { values: { price: 1, total: 2 } })).data,
    (await w.org.owner.post(records, { values: { price: 2, total: 2 } })).data,
  ]
  const etag = async ({ id }: { id: string }) => (await w.org.owner.get(`${records}/${id}`)).headers.get('etag')
  const [before, beforeOther] = [await etag(same), await etag(other)]
  await w.org.owner.put(`${at.total}/formula`, { formula: 'price * 2' })
  await w.drain()
  t.is(await etag(same), before)
  t.not(await etag(other), beforeOther)
  t.is(await countAuditEntries(w.db, w.org.id, { objectType: 'deals' }), 3)
})

test('recompute: the audit holds each changed value, caused by the job, and no rule, flow or queue acts on it', async (t) => {
  const w = await shared()
  const { owner, path } = w.org
  const { records, fields: at } = await createDeals(w, [...fields, { key: 'label', type: 'string' }])
  const inbox = async () => (await owner.get(`${path}/notifications`)).data.notifications
  const made = (await owner.post(records, { values: { price: 1, total: 7, label: 'x' } })).data
  await owner.post(records, { values: { price: 2, total: 4 } })
  await owner.post(`${path}/notification-rules`, { name: 'r', object_type: 'deals', event: 'updated', title: 't' })
  await owner.put(`${at.total}/formula`, { formula: 'price * 2' }, { 'x-request-id': 'the-formula' })
  await w.drain()
  const { entries, total } = (await owner.get(`${path}/audit?object_type=deals&action=record.updated`)).data
  t.is(total, 1)
  t.like(entries[0], {
    actor_id: null,
    actor_type: 'system',
    record_id: made.id,
    before: { total: 7 },
    after: { total: 2 },
    request_id: 'the-formula',
    cause: { kind: 'recompute' },
    undo_of: null,
    record: null,
  })
  t.like((await owner.get(`${path}/jobs/${entries[0].cause.id}`)).data, { kind: 'records.recompute', status: 'done' })
  t.deepEqual(await inbox(), [])
  await owner.put(`${records}/${made.id}/values`, { values: { price: 5 } })
  await w.drain()
  t.is((await inbox()).length, 1)
})

test('recompute: of unique results the audit holds what each record had before and has now', async (t) => {
  const w = await shared()
  const computed = [
    { key: 'code', type: 'number', unique: true },
    { key: 'mark', type: 'string', unique: true },
  ]
  const { records, fields: at } = await createDeals(w, [{ key: 'price', type: 'number' }, ...computed])
  await fillRecords(w, 'deals', 40, { price: '(n * 7) % 20' })
  const ids = (await w.org.owner.get(`${records}?sort=created_at&dir=asc&limit=200`)).data.records.map(({ id }: { id: string }) => id)
  const read = async () =>
    (await storedValues(w, 'code', 'mark')).map(({ code, mark }) => ({ code: code ? Number(code) : null, mark: mark ?? null }))
  // Results move from record to record, clash, and follow from the unique field of the same record.
  const formulas = [
    ...[{ code: 'price' }, { code: '39 - price' }, { mark: 'IF(ISBLANK(code), "none", CONCAT("m", code))' }, { code: 'MOD(price, 7)' }],
    ...[{ code: 'MOD(price + 3, 20)' }, { mark: 'IF(ISBLANK(code), CONCAT("m", price), "same")' }, { code: 'price' }],
  ]
  let seen = 0
  for (const [key, formula] of formulas.flatMap(Object.entries)) {
    const before = await read()
    t.is((await w.org.owner.put(`${at[key]}/formula`, { formula })).status, 200)
    await w.drain()
    const after = await read()
    const entries = await readUpdatesAfter(w.db, w.org.id, seen)
    seen += entries.length
    const expected = ids.flatMap((id: string, index: number) => changeBetween(id, before[index], after[index]))
    t.deepEqual(mergeEntries(entries), expected, formula)
  }
  t.true(seen > 60, `${seen} entries`)
})

test('recompute: after kill -9 another worker continues, and every value is right', async (t) => {
  const count = 20_000
  const w = await withoutWorkers()
  const { records, fields: at } = await createDeals(w, fields)
  await fillRecords(w, 'deals', count, { price: 'n' })
  const middle = (await w.org.owner.get(`${records}?sort=created_at&dir=asc&offset=${count / 2}&limit=1`)).data.records[0].id
  t.is((await w.org.owner.put(`${at.total}/formula`, { formula: 'price * 2' })).status, 200)
  const lock = await lockRow(t, w.db, `${schemaOf(w.org.id)}.deals`, middle)
  const first = await startWorkerProcess(t, w, 'data')
  const operation = () => readRecompute(w.db, w.org.id)
  await lock.waitedFor()
  const early = (await operation()).progress.done
  await first.kill('SIGKILL')
  await lock.release()
  await startWorkerProcess(t, w, 'data')
  // 20,000 records are computed.
  await eventually(async () => (await operation()).status === 'done', longestWaitMs)
  t.true(early > 0 && early <= count / 2, `${early} records before the kill`)
  t.deepEqual((await operation()).progress, { done: count, total: count })
  const stored = await storedValues(w, 'price', 'total')
  t.is(stored.length, count)
  t.deepEqual(
    stored.filter(({ price, total }) => Number(total) !== Number(price) * 2),
    [],
  )
})

test('recompute: existing records are computed although the formula’s author has left and the workspace is suspended', async (t) => {
  const w = await withoutWorkers()
  const { records, fields: at } = await createDeals(w, fields)
  await w.org.owner.post(records, { values: { price: 2 } })
  const designer = await createMember(w, w.org, [{ effect: 'allow', actions: ['fields:create'] }])
  t.is((await designer.client.put(`${at.total}/formula`, { formula: 'price * 2' })).status, 200)
  t.is((await w.org.owner.delete(`${w.org.path}/members/${designer.id}`)).status, 204)
  await setWorkspaceStatus(w.db, w.org.id, 'suspended')
  await startWorkerProcess(t, w, 'data')
  await eventually(async () => (await countOpenOperations(w.db, w.org.id, 'records.recompute')) === 0)
  t.is((await readRecompute(w.db, w.org.id)).status, 'done')
  t.deepEqual(await storedValues(w, 'total'), [{ total: '4.000000' }])
})

type Side = Readonly<Record<string, unknown>>

interface Changed {
  readonly record_id: string
  readonly before: Side
  readonly after: Side
}

/** What the audit should say of a record; nothing if its values are the same. */
function changeBetween(record_id: string, before: Side = {}, after: Side = {}): Changed[] {
  const changed = Object.keys(after).filter((key) => after[key] !== before[key])
  const pick = (values: Side) => Object.fromEntries(changed.map((key) => [key, values[key]]))
  return changed.length === 0 ? [] : [{ record_id, before: pick(before), after: pick(after) }]
}

/** One change for each record, in the order of the ids: a field that a step left empty may get its value, and an entry, from the second run. */
const mergeEntries = (entries: readonly Changed[]): Changed[] =>
  [...Map.groupBy(entries, ({ record_id }) => record_id)]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([id, ofRecord]) => {
      const before = Object.assign({}, ...ofRecord.toReversed().map((entry) => entry.before))
      const after = Object.assign({}, ...ofRecord.map((entry) => entry.after))
      return changeBetween(id, before, after)
    })

/** The scope with what a process knows of types, which it forgets by a refresh after a change, and with `between` after each step of a start. */
function interleave(scope: Scope, hasChanged: () => boolean, between: () => Promise<unknown>): Scope {
  const known = new Map<string, Promise<unknown>>()
  const cache = {
    remember: (_db: unknown, _scope: unknown, key: string, load: () => Promise<unknown>) => {
      const found = known.get(key) ?? load()
      known.set(key, found)
      return found
    },
    refresh: async () => {
      if (hasChanged()) known.clear()
      await between()
    },
  } as unknown as Scope['cache']
  const query: Scope['db']['query'] = async (statement) => {
    const rows = await scope.db.query(statement)
    if (statement.text.includes('stale_reads is not null')) await between()
    return rows
  }
  const db = new Proxy(scope.db, {
    get: (target, name) => {
      if (name === 'query') return query
      const member = Reflect.get(target, name)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
  return { ...scope, cache, db }
}

test('recompute: a formula that changes while a recompute starts stays masked by what its stored results read', async (t) => {
  const w = await withoutWorkers()
  t.teardown(() => dropQueuedJobs(w.db))
  const { records, fields: at } = await createDeals(w, [...fields, { key: 'secret', type: 'number' }])
  const rule = { effect: 'allow', actions: ['records:read'], resources: ['deals'], fields: { deny: ['secret'] } }
  const { client: masked } = await createMember(w, w.org, [rule])
  await w.org.owner.put(`${at.total}/formula`, { formula: 'secret * 2' })
  const { id } = (await w.org.owner.post(records, { values: { secret: 21, price: 1 } })).data
  let isChanged = false
  const change = async () => {
    if (isChanged) return
    isChanged = true
    t.is((await w.org.owner.put(`${at.total}/formula`, { formula: 'price * 2' })).status, 200)
  }
  const scope = interleave(await scopeOf(w, w.org), () => isChanged, change)
  await recomputeRecords.run({
    payload: { typeKey: 'deals' },
    scope,
    jobId: randomUUID(),
    signal: AbortSignal.timeout(10_000),
    begun: false,
    mayWait: false,
    checkpoint: undefined,
    advance: async () => undefined,
    commit: async (write) => {
      await scope.db.transaction((tx) => write(within(scope, tx)))
      return completed
    },
    park: async () => completed,
  })
  t.true(isChanged)
  t.is((await masked.get(`${records}/${id}`)).data.values.total, undefined, 'the second recompute has not run')
  t.is((await w.org.owner.get(`${records}/${id}`)).data.values.total, 2)
})
