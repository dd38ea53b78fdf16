import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import test from 'ava'
import fc from 'fast-check'
import { schemaOf } from '#shared/core/types/tables/table-names.ts'
import { makeOlder } from '#test/core/records/rows.ts'
import type { Client } from '#test/support/client.ts'
import { createMember, createOrg } from '#test/support/factories.ts'
import type { Answer } from '#test/support/send-request.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const shared = shareWorld(test)

const read = (more: object = {}) => ({ effect: 'allow', actions: ['records:read'], resources: ['visits'], ...more })
const audit = read({ actions: ['audit:read'] })

/** The id of what a call has made. */
function idOf({ status, data, text }: Answer): string {
  if (status !== 201) throw new Error(text)
  return data.id
}

/** Makes the type `visits`, and returns ways to change it and to look at its records. */
async function start(w: World) {
  const { owner, path } = w.org
  await owner.post(`${path}/types`, { key: 'visits', label: 'Visits' })
  const records = `${path}/records/visits`
  return {
    records,
    addField: async (key: string, type: string, rules?: object): Promise<string> =>
      idOf(await owner.post(`${path}/fields`, { entity_type: 'visits', key, label: key, type, rules })),
    create: async (values: object): Promise<string> => idOf(await owner.post(records, { values })),
    set: (id: string, values: object) => owner.put(`${records}/${id}/values`, { values }),
    remove: (id: string) => owner.delete(`${records}/${id}`),
    at: (id: string, asOf: string, client: Client = owner, more = '') => client.get(`${records}/${id}?as_of=${asOf}${more}`),
  }
}

/** An instant after everything that has happened and before everything that follows. */
async function instant({ api: { services } }: World): Promise<string> {
  const at = services.now()
  while (services.now().getTime() <= at.getTime() + 1) await setImmediate()
  return at.toISOString()
}

test('as of: a record as it was at each time, before it was made, and after it was gone', async (t) => {
  const w = await shared()
  const { records, addField, create, set, remove, at } = await start(w)
  await addField('name', 'string')
  await addField('total', 'currency')
  const before = await instant(w)
  const id = await create({ name: 'a' })
  const made = (await w.org.owner.get(`${records}/${id}`)).data
  const first = await instant(w)
  await set(id, { name: 'b', total: { amount: 12.5, code: 'EUR' } })
  const second = await instant(w)
  await set(id, { name: null })
  const third = await instant(w)
  const present = (await w.org.owner.get(`${records}/${id}`)).data
  t.is((await at(id, before)).status, 404)
  t.deepEqual((await at(id, first)).data, made)
  const { created_at, created_by, object_type, updated_at, values } = (await at(id, second)).data
  t.deepEqual({ created_at, created_by, object_type }, { created_at: made.created_at, created_by: made.created_by, object_type: 'visits' })
  t.true(updated_at > made.updated_at && updated_at < present.updated_at)
  t.deepEqual(values, { name: 'b', total: { amount: 12.5, code: 'EUR' } })
  t.deepEqual((await at(id, third)).data, present)
  t.deepEqual((await at(id, present.updated_at)).data, present)
  t.deepEqual((await at(id, '2999-01-01T00:00:00Z')).data, present, 'what is ahead is as it is now')
  t.deepEqual((await at(id, second, w.org.owner, '&fields=name')).data.values, { name: 'b' })
  await remove(id)
  const gone = await instant(w)
  t.is((await at(id, gone)).status, 404)
  t.deepEqual((await at(id, third)).data.values, present.values)
  t.is((await at(id, third)).data.created_at, made.created_at)
  t.is((await w.org.owner.get(`${records}/${id}`)).status, 404)
})

test('as of: a record is there from its created_at on, though its entry is younger', async (t) => {
  const w = await shared()
  const { records, addField, create, set, remove, at } = await start(w)
  await addField('name', 'string')
  const id = await create({ name: 'a' })
  await makeOlder(w.db, `${schemaOf(w.org.id)}.visits`, id, 20)
  const { created_at } = (await w.org.owner.get(`${records}/${id}`)).data
  const before = new Date(Date.parse(created_at) - 1).toISOString()
  const look = async () => {
    const { status, data } = await at(id, created_at)
    t.deepEqual([status, data?.values, data?.created_at], [200, { name: 'a' }, created_at])
    t.is((await at(id, before)).status, 404)
  }
  await set(id, { name: 'b' })
  await look()
  await remove(id)
  await look()
  t.is((await at(id, await instant(w))).status, 404)
})

test('as of: an instant, expand and an id that are wrong, and rights that are missing', async (t) => {
  const w = await shared()
  const { records, addField, create, at } = await start(w)
  await addField('name', 'string')
  const id = await create({ name: 'a' })
  const now = await instant(w)
  for (const wrong of ['', 'yesterday', '2026-11-31T00:00:00Z', '2026-11-29', '1790000000']) {
    const { status, body } = await at(id, wrong)
    t.is(status, 400, wrong)
    t.regex(body.error.message, /^as_of must be an instant/)
  }
  const expanded = await at(id, now, w.org.owner, '&expand=name')
  t.is(expanded.status, 400)
  t.regex(expanded.body.error.message, /^expand .* as_of/)
  t.is((await at(id, now, w.org.owner, '&fields=nothing')).status, 400)
  for (const other of ['x', '01900000-0000-7000-8000-000000000000']) t.is((await at(other, now)).status, 404)
  t.is((await w.org.owner.get(`${w.org.path}/records/nothing/${id}?as_of=${now}`)).status, 404)
  const answer = await at(id, now)
  t.deepEqual([answer.status, answer.headers.get('etag')], [200, null])
  const blind = await createMember(w, w.org, [read()])
  const auditor = await createMember(w, w.org, [audit])
  t.is((await blind.client.get(`${records}/${id}`)).status, 200)
  for (const { client } of [blind, auditor]) t.is((await at(id, now, client)).status, 403)
})

test('as of: what a rule hides, now or then, is not shown', async (t) => {
  const w = await shared()
  const { addField, create, set, remove, at } = await start(w)
  for (const key of ['region', 'notes', 'secret']) await addField(key, 'string')
  const north = { 'resource.region': { eq: 'north' } }
  const reader = await createMember(w, w.org, [audit, read({ condition: north, fields: { deny: ['secret'] } })])
  const partly = await createMember(w, w.org, [
    audit,
    read({ fields: { allow: ['region'] } }),
    read({ condition: { 'resource.region': { in: ['north', 'south'] } }, fields: { allow: ['notes'] } }),
  ])
  const id = await create({ region: 'south', notes: 'planted', secret: 'planted' })
  const south = await instant(w)
  await set(id, { region: 'north', notes: 'open' })
  const opened = await instant(w)
  await set(id, { region: 'east' })
  const east = await instant(w)
  t.is((await at(id, opened, reader.client)).status, 404, 'hidden now')
  t.deepEqual((await at(id, opened, partly.client)).data.values, { region: 'north' }, 'notes are hidden now')
  await set(id, { region: 'north' })
  t.is((await at(id, south, reader.client)).status, 404, 'hidden then')
  t.is((await at(id, east, reader.client)).status, 404, 'hidden then')
  t.deepEqual((await at(id, opened, reader.client)).data.values, { region: 'north', notes: 'open' })
  t.deepEqual((await at(id, east, partly.client)).data.values, { region: 'east' }, 'notes were hidden then')
  t.deepEqual((await at(id, south, partly.client)).data.values, { region: 'south', notes: 'planted' })
  t.is((await at(id, opened, reader.client, '&fields=secret')).status, 400)
  await remove(id)
  t.deepEqual((await at(id, opened, reader.client)).data.values, { region: 'north', notes: 'open' }, 'its last state is seen')
  const other = await create({ region: 'north' })
  const seen = await instant(w)
  await set(other, { region: 'south' })
  await remove(other)
  t.is((await at(other, seen, reader.client)).status, 404, 'its last state is hidden')
})

test('as of: values of a field or type that is gone do not count, and rules on them are not taken as met', async (t) => {
  const w = await shared()
  const { owner, path } = w.org
  const { records, addField, create, set, at } = await start(w)
  await addField('name', 'string')
  const region = await addField('region', 'string')
  const denied = await createMember(w, w.org, [
    audit,
    read(),
    { ...read({ condition: { 'resource.region': { eq: 'south' } } }), effect: 'deny' },
  ])
  const id = await create({ name: 'a', region: 'south' })
  const old = await instant(w)
  await owner.delete(`${path}/fields/${region}`)
  await addField('region', 'string')
  await addField('added', 'number')
  t.deepEqual((await at(id, old)).data.values, { name: 'a', region: null, added: null })
  await set(id, { region: 'north' })
  t.deepEqual((await at(id, old)).data.values, { name: 'a', region: null, added: null }, 'after a later change, too')
  t.is((await at(id, old, denied.client)).status, 404, 'the earlier field may have been one that denies')
  t.is((await owner.get(`${records}/${id}`)).status, 200)
  const { data: fields } = await owner.get(`${path}/fields?entity_type=visits`)
  await owner.delete(`${path}/fields/${fields.find(({ key }: { key: string }) => key === 'region').id}`)
  await addField('region', 'number')
  t.deepEqual((await at(id, await instant(w))).data.values, { name: 'a', added: null, region: null })
  await owner.delete(`${path}/types/visits`)
  await owner.post(`${path}/types`, { key: 'visits', label: 'Again' })
  await addField('name', 'string')
  t.is((await at(id, old)).status, 404)
})

/** A step of a random history; `pick` chooses a record. */
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constant('set' as const), pick: fc.nat(9), key: fc.constantFrom('aa', 'bb', 'cc'), value: fc.nat(4) }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('create' as const), value: fc.nat(4) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('delete' as const), pick: fc.nat(9) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('replace' as const), key: fc.constantFrom('aa', 'cc'), isNumber: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('compute' as const), by: fc.integer({ min: 2, max: 4 }) }) },
)

test('as of: random histories agree with snapshots that were kept at each time', async (t) => {
  const one = await shared()
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 16 }), async (steps) => {
      const w = { ...one, org: await createOrg(one) }
      const { owner, path } = w.org
      const { records, addField, create, set, remove, at } = await start(w)
      const fields = new Map<string, { id: string; isNumber: boolean }>()
      for (const key of ['aa', 'bb', 'cc', 'dd'])
        fields.set(key, { id: await addField(key, key === 'aa' ? 'string' : 'number'), isNumber: key !== 'aa' })
      const compute = async (by: number) => {
        await owner.put(`${path}/fields/${fields.get('dd')?.id}/formula`, { formula: `bb * ${by}` })
        await w.drain()
      }
      await compute(2)
      const reader = await createMember(w, w.org, [audit, read({ condition: { 'resource.bb': { gte: 2 } }, fields: { deny: ['cc'] } })])
      const textOrNumber = (key: string, value: number) => (fields.get(key)?.isNumber ? value : `text ${value}`)
      const ids: string[] = []
      /** Values of each record by the id of their field, at each time; those of a deleted record stay in `last`. */
      const history: { at: string; records: Map<string, Map<string, unknown>> }[] = []
      const last = new Map<string, Map<string, unknown>>()
      for (const taken of [{ do: 'create' as const, value: 2 }, ...steps]) {
        const id = 'pick' in taken ? (ids[taken.pick % ids.length] ?? '') : ''
        if (taken.do === 'create')
          ids.push(await create({ aa: textOrNumber('aa', taken.value), bb: taken.value, cc: textOrNumber('cc', taken.value) }))
        if (taken.do === 'set') await set(id, { [taken.key]: taken.value === 4 ? null : textOrNumber(taken.key, taken.value) })
        if (taken.do === 'delete') await remove(id)
        if (taken.do === 'compute') await compute(taken.by)
        if (taken.do === 'replace') {
          await owner.delete(`${path}/fields/${fields.get(taken.key)?.id}`)
          fields.set(taken.key, { id: await addField(taken.key, taken.isNumber ? 'number' : 'string'), isNumber: taken.isNumber })
        }
        const present = new Map<string, Map<string, unknown>>()
        for (const record of (await owner.get(`${records}?limit=100`)).data.records)
          present.set(record.id, new Map([...fields].map(([key, field]) => [field.id, record.values[key]])))
        for (const [key, values] of present) last.set(key, values)
        history.push({ at: await instant(w), records: present })
      }
      const tested = fields.get('bb')?.id ?? ''
      const isSeen = (values: Map<string, unknown> | undefined) => Number(values?.get(tested) ?? 0) >= 2
      for (const then of history) {
        for (const id of ids) {
          const kept = then.records.get(id)
          const whole = await at(id, then.at)
          const expected = kept && Object.fromEntries([...fields].map(([key, field]) => [key, kept.get(field.id) ?? null]))
          assert.deepEqual(whole.status === 200 ? whole.data.values : undefined, expected)
          const masked = await at(id, then.at, reader.client)
          const { cc: _, ...rest } = expected ?? {}
          const isShown = isSeen(kept) && isSeen(last.get(id))
          assert.deepEqual(masked.status === 200 ? masked.data.values : undefined, isShown ? rest : undefined)
        }
      }
    }),
    { numRuns: 8, includeErrorInReport: true },
  )
  t.pass()
})
