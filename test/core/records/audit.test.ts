import { randomUUID } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { auditActions } from '#shared/core/records/audit/schemas.ts'
import { causeKinds } from '#shared/platform/kernel/cause.ts'
import { addEntry, auditChanges, forgetCauses } from '#test/core/records/rows.ts'
import { createMember, createOrg, createService } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const newWorkspace = shareWorld(test)
const root = join(import.meta.dirname, '..', '..', '..')

const audit = (w: World, query = '') => `${w.org.path}/audit${query}`
const invoices = (w: World) => `${w.org.path}/records/invoices`
const csv = { 'content-type': 'text/csv' }

test('audit: the filter knows every action that a statement writes', (t) => {
  const texts = globSync('shared/**/*store.ts', { cwd: root }).map((path) => readFileSync(join(root, path), 'utf8'))
  const writers = texts.filter((text) => /insert into audit_entries/.test(text))
  const written = writers.flatMap((text) => [...text.matchAll(/'([a-z_]+\.(?:created|updated|deleted))'/g)].map(([, action]) => action))
  t.deepEqual([...new Set(written)].sort(), [...auditActions].sort())
})

test('audit: every change has one entry with the change, the actor and the request', async (t) => {
  const w = await newWorkspace()
  const { owner } = w.org
  const service = await createService(w, w.org, [{ effect: 'allow', actions: ['*'] }])
  const made = await owner.post(invoices(w), { values: { customer_name: 'Ada', total: 12.5 } }, { 'x-request-id': 'first' })
  const one = `${invoices(w)}/${made.data.id}`
  await service.client.put(`${one}/values`, { values: { customer_name: 'Bob', notes: 'x' } }, { 'x-request-id': 'second' })
  await owner.put(`${one}/values`, { values: { customer_name: 'Bob' } }, { 'x-request-id': 'nothing changed' })
  const last = await owner.get(one)
  await owner.delete(one, { 'x-request-id': 'third' })
  const { data, text } = await owner.get(audit(w))
  t.is(data.total, 3, text)
  const number = made.data.values.number
  const common = { object_type: 'invoices', record_id: made.data.id, cause: { kind: 'request', id: null }, undo_of: null, record: null }
  const person = { actor_id: w.org.ownerId, actor_type: 'user' }
  t.deepEqual(
    data.entries.map(({ id: _, created_at: __, ...entry }: Record<string, unknown>) => entry),
    [
      {
        ...common,
        ...person,
        action: 'record.deleted',
        before: { number, status: 'draft', customer_name: 'Bob', notes: 'x', total: { amount: 12.5, code: 'USD' } },
        after: null,
        request_id: 'third',
        record: { created_by: w.org.ownerId, created_at: made.data.created_at, updated_at: last.data.updated_at },
      },
      {
        ...common,
        actor_id: service.id,
        actor_type: 'service',
        action: 'record.updated',
        before: { customer_name: 'Ada', notes: null },
        after: { customer_name: 'Bob', notes: 'x' },
        request_id: 'second',
      },
      {
        ...common,
        ...person,
        action: 'record.created',
        before: null,
        after: { number, status: 'draft', customer_name: 'Ada', total: { amount: 12.5, code: 'USD' } },
        request_id: 'first',
      },
    ],
  )
  const times = data.entries.map((entry: { created_at: string }) => entry.created_at)
  t.deepEqual(times, times.toSorted().toReversed())
})

test('audit: an import writes an entry for each row that it creates and none for the others', async (t) => {
  const w = await newWorkspace()
  const file = 'customer_name,total\nAda,1\nBob,many\nCy,3\n'
  t.like((await w.org.owner.post(`${invoices(w)}/import`, file, { ...csv, 'x-request-id': 'the-import' })).data, { created: 2, failed: 1 })
  const { data } = await w.org.owner.get(audit(w))
  t.is(data.total, 2)
  t.deepEqual(
    data.entries.map(({ action, request_id, after }: { action: string; request_id: string; after: { customer_name: string } }) => [
      action,
      request_id,
      after.customer_name,
    ]),
    [
      ['record.created', 'the-import', 'Cy'],
      ['record.created', 'the-import', 'Ada'],
    ],
  )
})

test('audit: a write that fails leaves no entry', async (t) => {
  const w = await newWorkspace()
  await w.org.owner.post(invoices(w), { values: { number: 'A' } })
  t.is((await w.org.owner.post(invoices(w), { values: { number: 'A' } })).status, 409)
  const second = await w.org.owner.post(invoices(w), { values: { number: 'B' } })
  t.is((await w.org.owner.put(`${invoices(w)}/${second.data.id}/values`, { values: { number: 'A' } })).status, 409)
  t.is((await w.org.owner.get(audit(w))).data.total, 2)
})

test('audit: filters apply separately and together, and the total is exact on every page', async (t) => {
  const w = await newWorkspace()
  const { owner } = w.org
  const service = await createService(w, w.org, [{ effect: 'allow', actions: ['*'] }])
  const first = (await owner.post(invoices(w), {})).data
  await service.client.post(`${w.org.path}/records/locations`, { values: { name: 'x' } })
  await service.client.put(`${invoices(w)}/${first.id}/values`, { values: { notes: 'x' } })
  await owner.delete(`${invoices(w)}/${first.id}`)
  const ask = async (query: string) => {
    const { status, data, text } = await owner.get(audit(w, `?${query}`))
    t.is(status, 200, text)
    t.is(data.total, data.entries.length)
    return data.entries.map(({ action, object_type }: { action: string; object_type: string }) => `${action.slice(7)} ${object_type}`)
  }
  const all = ['deleted invoices', 'updated invoices', 'created locations', 'created invoices']
  t.deepEqual(await ask(''), all)
  t.deepEqual(await ask('object_type=locations'), ['created locations'])
  t.deepEqual(await ask('object_type=nothing'), [])
  t.deepEqual(await ask(`record_id=${first.id}`), ['deleted invoices', 'updated invoices', 'created invoices'])
  t.deepEqual(await ask(`record_id=${randomUUID()}`), [])
  t.deepEqual(await ask(`actor=${service.id}`), ['updated invoices', 'created locations'])
  t.deepEqual(await ask('action=record.created'), ['created locations', 'created invoices'])
  t.deepEqual(await ask(`actor=${service.id}&action=record.created&object_type=locations`), ['created locations'])
  const pages = await Promise.all([0, 1, 2, 3, 4].map((offset) => owner.get(audit(w, `?limit=1&offset=${offset}`))))
  t.deepEqual(
    pages.map(({ data }) => data.total),
    [4, 4, 4, 4, 4],
  )
  t.deepEqual(
    pages.map(({ data }) => data.entries.length),
    [1, 1, 1, 1, 0],
  )
  t.is(new Set(pages.flatMap(({ data }) => data.entries.map(({ id }: { id: string }) => id))).size, 4)
})

test('audit: from and to are inclusive instants', async (t) => {
  const w = await newWorkspace()
  await w.org.owner.post(invoices(w), {})
  const at = (await w.org.owner.get(audit(w))).data.entries[0].created_at.replace('Z', '')
  const [whole] = at.split('.')
  const milliseconds = Date.parse(`${at}Z`)
  const shifted = (ms: number) => new Date(milliseconds + ms).toISOString()
  const cases: [string, number][] = [
    [`from=${at}Z`, 1],
    [`to=${at}Z`, 1],
    [`from=${at}Z&to=${at}Z`, 1],
    [`from=${shifted(1)}`, 0],
    [`to=${shifted(-1)}`, 0],
    [`from=${shifted(0).replace('Z', '001Z')}`, 0],
    [`to=${shifted(-1).replace('Z', '999Z')}`, 0],
    [`to=${shifted(0).replace('Z', '999Z')}`, 1],
    [`from=${whole}Z`, 1],
    ['from=0001-01-01T00:00:00Z&to=9999-12-31T23:59:59Z', 1],
    ['from=9999-12-31T23:59:59Z', 0],
    ['to=1960-01-01T00:00:00Z', 0],
    [`from=${encodeURIComponent(`${shifted(5 * 3_600_000).slice(0, -1)}+05:00`)}`, 1],
    [`to=${encodeURIComponent(`${shifted(5 * 3_600_000 - 1).slice(0, -1)}+05:00`)}`, 0],
  ]
  for (const [query, total] of cases) t.is((await w.org.owner.get(audit(w, `?${query}`))).data?.total, total, query)
})

test('audit: an entry of a release that kept no causes has none', async (t) => {
  const w = await newWorkspace()
  const { id } = (await w.org.owner.post(invoices(w), {})).data
  await w.org.owner.delete(`${invoices(w)}/${id}`)
  await forgetCauses(w.db, w.org.id)
  const { entries } = (await w.org.owner.get(audit(w))).data
  t.deepEqual(
    entries.map(({ action, cause, record }: Record<string, unknown>) => [action, cause, record]),
    [
      ['record.deleted', null, null],
      ['record.created', null, null],
    ],
  )
})

test('audit: the database refuses a cause of an unknown kind, and an id that does not fit the kind', async (t) => {
  const w = await newWorkspace()
  const id = randomUUID()
  const causes = [
    { kind: 'other', id: null },
    { kind: 'other', id },
    { kind: 'request', id },
    { kind: 'system', id },
    { kind: 'batch', id: null },
    { kind: 'flow', id: null },
    { kind: null, id },
  ]
  for (const { kind, id: named } of causes)
    await t.throwsAsync(addEntry(w.db, w.org.id, kind, named), { message: /audit_entries_cause_check/ }, `${kind} ${named}`)
  for (const kind of [null, 'request', 'system']) await addEntry(w.db, w.org.id, kind, null)
  for (const kind of causeKinds.filter((one) => one !== 'request' && one !== 'system')) await addEntry(w.db, w.org.id, kind, id)
  t.is((await w.org.owner.get(audit(w))).data.total, 3 + causeKinds.length - 2)
})

test('audit: a bad parameter is refused with 400 and named', async (t) => {
  const w = await newWorkspace()
  const bad = [
    ...['record_id=x', 'actor=x', 'action=created', 'action=', 'limit=0', 'limit=201', 'limit=x', 'limit=-1', 'offset=-1', 'offset=x'],
    ...['from=yesterday', 'from=', 'to=2026-02-30T00:00:00Z', 'to=2026-02-03', 'from=2026-01-01T00:00:00', 'limit=1&limit=2', 'unknown=1'],
  ]
  for (const query of bad) {
    const answer = await w.org.owner.get(audit(w, `?${query}`))
    t.is(answer.status, 400, query)
    t.true(answer.body.error.message.startsWith(query.split('=')[0] ?? ''), answer.text)
  }
  for (const query of ['limit=1', 'limit=200', 'offset=1000000']) {
    t.is((await w.org.owner.get(audit(w, `?${query}`))).status, 200, query)
  }
})

test('audit: only holders of audit:read see the audit of their workspace', async (t) => {
  const w = await newWorkspace()
  await w.org.owner.post(invoices(w), {})
  const other = await createOrg(w, 'Other')
  t.is((await other.owner.get(audit(w))).status, 404)
  t.deepEqual((await other.owner.get(`${other.path}/audit`)).data, { entries: [], total: 0 })
  t.is((await w.visitor.get(audit(w))).status, 401)
  const records = await createMember(w, w.org, [{ effect: 'allow', actions: ['records:*'] }])
  t.is((await records.client.get(audit(w))).status, 403)
  const both = await createMember(w, w.org, [{ effect: 'allow', actions: ['records:read', 'audit:read'] }])
  t.is((await both.client.get(audit(w))).data.total, 1)
})

test('audit: entries cannot be changed or deleted, not even in the database', async (t) => {
  const w = await newWorkspace()
  await w.org.owner.post(invoices(w), {})
  for (const [name, change] of Object.entries(auditChanges)) {
    await t.throwsAsync(change(w.db), { message: /audit_entries only grows/ }, name)
  }
})
