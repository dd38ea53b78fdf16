import test, { type ExecutionContext } from 'ava'
import { deliverNotices } from '#shared/core/notifications/deliver.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { newId } from '#shared/platform/kernel/ids.ts'
import { inboxOf, rulesOf } from '#test/core/notifications/make-rule.ts'
import { createMember, createOrg } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const newWorkspace = shareWorld(test)

const rule = (more: object = {}) => ({ name: 'People', object_type: 'staff', event: 'created', title: 'Seen', ...more })
const well = { field: 'salary', op: 'gte', value: '200' }
const makes = { effect: 'allow', actions: ['notifications:create', 'notifications:read'] }
const reads = (more: object = {}) => ({ effect: 'allow', actions: ['records:read'], resources: ['staff'], ...more })

async function staff(t: ExecutionContext) {
  const w = await newWorkspace()
  const { owner, path } = w.org
  await owner.post(`${path}/types`, { key: 'staff', label: 'Staff' })
  const fields: Record<string, string> = {}
  for (const [key, type, rules] of [
    ['name', 'string'],
    ['salary', 'number'],
    ['team', 'string'],
    ['place', 'ref', { ref_type: 'locations' }],
  ]) {
    const made = await owner.post(`${path}/fields`, { entity_type: 'staff', key, label: key, type, ...(rules ? { rules } : {}) })
    t.is(made.status, 201, made.text)
    fields[String(key)] = made.data.id
  }
  const make = async (more: object): Promise<string> => {
    const made = await owner.post(rulesOf(w), rule(more))
    t.is(made.status, 201, made.text)
    return made.data.id
  }
  return {
    w,
    fields,
    make,
    create: async (values: object): Promise<string> => (await owner.post(`${path}/records/staff`, { values })).data.id,
    change: (id: string, values: object) => owner.put(`${path}/records/staff/${id}/values`, { values }),
    remove: (id: string) => owner.delete(`${path}/records/staff/${id}`),
  }
}

/** The events and records of a person's inbox, sorted. */
async function inbox(w: World, client = w.org.owner): Promise<string[]> {
  await w.drain()
  const { notifications } = (await client.get(`${inboxOf(w)}?limit=100`)).data
  return notifications.map(({ title, record_id }: { title: string; record_id: string }) => `${title} ${record_id}`).toSorted()
}

test('rule filters: a filter judges the record as the change left it, a deleted one as it was', async (t) => {
  const { w, make, create, change, remove } = await staff(t)
  for (const event of ['created', 'updated', 'deleted']) await make({ event, title: event, filter: [well] })
  await make({ event: 'updated', title: 'every' })
  const member = await createMember(w, w.org)
  const [ann, bob] = [await create({ name: 'Ann', salary: 100 }), await create({ name: 'Bob', salary: 200 })]
  await change(ann, { salary: 200 })
  await change(bob, { salary: 199 })
  // The job of a change may run after the next one: what the change left counts.
  await change(ann, { salary: 1 })
  await remove(ann)
  const cas = await create({ name: 'Cas', salary: 1000 })
  await remove(cas)
  const expected = [`created ${bob}`, `created ${cas}`, `deleted ${cas}`, `updated ${ann}`, `every ${ann}`, `every ${ann}`, `every ${bob}`]
  t.deepEqual(await inbox(w), expected.toSorted())
  t.deepEqual(await inbox(w, member.client), expected.toSorted())
})

test('rule filters: all, any and not join conditions, and an empty filter holds or never holds', async (t) => {
  const { w, make, create } = await staff(t)
  await make({
    filter: { any: [{ not: { field: 'team', op: 'empty' } }, { all: [well, { field: 'name', op: 'starts_with', value: 'a' }] }] },
  })
  await make({ title: 'never', filter: { any: [] } })
  await make({ title: 'always', filter: [] })
  const ids = await Promise.all([
    create({ name: 'Ann', salary: 300 }),
    create({ name: 'Bob', salary: 300 }),
    create({ name: 'Cas', team: 'north' }),
  ])
  const items = await inbox(w)
  t.deepEqual(
    items.filter((item) => item.startsWith('Seen')),
    [`Seen ${ids[0]}`, `Seen ${ids[2]}`].toSorted(),
  )
  t.is(items.filter((item) => item.startsWith('always')).length, 3)
  t.is(items.length, 5)
})

const leaf = { field: 'name', op: 'eq', value: 'x' }
/** A filter with so many bytes of JSON, of texts of two bytes a character but for its end. */
const filterOf = (bytes: number) => {
  const frame = Buffer.byteLength(JSON.stringify([{ ...leaf, value: '' }]))
  const rest = bytes - frame
  return [{ ...leaf, value: 'ä'.repeat(rest >> 1) + 'x'.repeat(rest & 1) }]
}
const refused: readonly (readonly [filter: unknown, message: RegExp])[] = [
  [{ field: 'nmae', op: 'eq', value: 'x' }, /^filter\.field must be a field of staff that you may read, got nmae$/],
  [[{ field: 'place.name', op: 'eq', value: 'x' }], /^filter\[0\]\.field must .*place\.name/],
  [[{ field: 'salary', op: 'has', value: '1' }], /^filter\[0\]\.op must be one of /],
  [[{ field: 'salary', op: 'gt', value: 'x' }], /^filter\[0\]\.value for salary must be /],
  [{ all: [], any: [] }, /^filter must have no other key/],
  ['[]', /^filter must be a condition \{field, op, value\}, an array of filters, or \{all\}, \{any\} or \{not\}$/],
  [5, /^filter must be a condition /],
  [Array.from({ length: 51 }, () => leaf), /^filter must have at most 50 conditions$/],
  [{ all: [{ any: [{ not: { all: [{ not: leaf }] } }] }] }, /filter must have at most 4 levels/],
  [filterOf(16_385), /^filter must have at most 16 KB \(16384 bytes of compact JSON\), got 16385 bytes$/],
]

test('rule filters: a filter that does not fit the type is 400 when a rule is made and changed', async (t) => {
  const { w, make } = await staff(t)
  const id = await make({ filter: well })
  for (const [filter, message] of refused) {
    for (const answer of [await w.org.owner.post(rulesOf(w), rule({ filter })), await w.org.owner.put(`${rulesOf(w)}/${id}`, { filter })]) {
      t.is(answer.status, 400, answer.text)
      t.regex(answer.body.error.message, message)
    }
  }
  const moved = await w.org.owner.put(`${rulesOf(w)}/${id}`, { object_type: 'locations' })
  t.is(moved.status, 400, 'the filter does not fit the other type')
  t.regex(moved.body.error.message, /^filter\.field must be a field of locations/)
  const whole = { object_type: 'locations', filter: { field: 'name', op: 'eq', value: 'x' } }
  t.is((await w.org.owner.put(`${rulesOf(w)}/${id}`, whole)).status, 200)
  for (const filter of [filterOf(16_384), Array.from({ length: 50 }, () => leaf), { all: [{ any: [{ not: { all: [leaf] } }] }] }])
    t.is((await w.org.owner.post(rulesOf(w), rule({ filter }))).status, 201)
})

test('rule filters: a filter is shown as it was sent, stays without mention, and null removes it', async (t) => {
  const { w, make, create } = await staff(t)
  const { owner } = w.org
  const filter = { all: [{ value: '200', op: 'gte', field: 'salary' }] }
  const id = await make({ filter })
  const one = `${rulesOf(w)}/${id}`
  const { data } = await owner.get(one)
  t.deepEqual(data.filter, filter)
  t.is((await owner.put(one, data)).status, 200, 'what was read can be sent back')
  t.deepEqual((await owner.put(one, { title: 'Other' })).data.filter, filter)
  t.deepEqual(
    (await owner.get(rulesOf(w))).data.map((listed: { filter: unknown }) => listed.filter),
    [filter],
  )
  await create({ salary: 1 })
  t.deepEqual(await inbox(w), [])
  t.is((await owner.put(one, { filter: null })).data.filter, null)
  const seen = await create({ salary: 1 })
  t.deepEqual(await inbox(w), [`Other ${seen}`])
  t.is((await owner.post(rulesOf(w), rule())).data.filter, null)
})

test('rule filters: who writes a filter reads every record, and every field that it tests', async (t) => {
  const { w, make } = await staff(t)
  const filter = [well]
  const client = async (...rules: object[]) => (await createMember(w, w.org, [makes, ...rules])).client
  const north = await client(reads({ condition: { 'resource.team': { eq: 'north' } } }))
  const [masked, all, none] = [await client(reads({ fields: { deny: ['salary'] } })), await client(reads()), await client()]
  const id = await make({ filter: [{ field: 'team', op: 'eq', value: 'north' }] })
  for (const send of [
    (sender: typeof all) => sender.post(rulesOf(w), rule({ filter })),
    (sender: typeof all) => sender.put(`${rulesOf(w)}/${id}`, { filter }),
  ]) {
    for (const limited of [north, none]) {
      const answer = await send(limited)
      t.is(answer.status, 403, answer.text)
      t.is(answer.body.error.message, 'filter needs records:read on every record of staff')
    }
    const hidden = await send(masked)
    t.is(hidden.status, 400, hidden.text)
    t.is(hidden.body.error.message, 'filter[0].field must be a field of staff that you may read, got salary')
  }
  t.is((await masked.put(`${rulesOf(w)}/${id}`, { filter: [{ field: 'team', op: 'eq', value: 'south' }] })).status, 200)
  const sent = await all.put(`${rulesOf(w)}/${id}`, { filter })
  t.is(sent.status, 200, sent.text)
  t.is((await none.put(`${rulesOf(w)}/${id}`, { filter, title: 'Same' })).status, 200, 'an unchanged filter is not checked again')
  t.is((await none.put(`${rulesOf(w)}/${id}`, { event: 'created' })).status, 200, 'nor beside an unchanged event')
  const moved = await none.put(`${rulesOf(w)}/${id}`, { event: 'updated' })
  t.is(moved.status, 403, moved.text)
  t.is((await all.put(`${rulesOf(w)}/${id}`, { event: 'updated' })).status, 200)
  t.is((await none.post(rulesOf(w), rule())).status, 201, 'a rule without a filter needs no right to read')
})

test('rule filters: a filter on a field that is gone, or has another type, lets no record through', async (t) => {
  const { w, make, create, fields } = await staff(t)
  await make({ filter: [well] })
  await w.org.owner.delete(`${w.org.path}/fields/${fields.salary}`)
  await create({ name: 'Ann' })
  t.deepEqual(await inbox(w), [])
  const field = { entity_type: 'staff', key: 'salary', label: 'Salary', type: 'string' }
  t.is((await w.org.owner.post(`${w.org.path}/fields`, field)).status, 201)
  await create({ salary: '300' })
  t.deepEqual(await inbox(w), [])
})

test('rule filters: an id of another workspace matches nothing', async (t) => {
  const { w, make, create } = await staff(t)
  const other = await createOrg(w)
  const theirs = (await other.owner.post(`${other.path}/records/locations`, { values: { name: 'Theirs' } })).data.id
  await make({
    filter: {
      any: [
        { field: 'id', op: 'eq', value: theirs },
        { field: 'place', op: 'eq', value: theirs },
      ],
    },
  })
  await create({ name: 'Ann' })
  t.deepEqual(await inbox(w), [])
})

/** Delivers a change of one record to rules, as a job does that its worker took late; without a snapshot. */
async function deliver(w: World, event: string, record: string, listenerIds: string[], db: Executor = w.worker.database): Promise<void> {
  const { cache } = w.api.services
  await cache.refresh()
  const change = { workspaceId: w.org.id, source: 'records', objectType: 'staff', event, entryIds: [newId()], subjectIds: [record] }
  await deliverNotices({ db, cache }, w.org.id, [{ ...change, listenerIds }])
}

test('rule filters: a delivery reads the rules that it names alone, in one statement for its type', async (t) => {
  const { w, make, create } = await staff(t)
  const ids = [await make({ title: 'one', event: 'updated' }), await make({ title: 'two', event: 'updated' })]
  await make({ title: 'other', event: 'updated', filter: [well] })
  const ann = await create({ name: 'Ann' })
  const read: string[] = []
  const db = new Proxy(w.worker.database, {
    get: (database, key) => {
      if (key !== 'query') return Reflect.get(database, key, database)
      return async (statement: { readonly name: string }) => {
        const rows = await Reflect.apply(database.query, database, [statement])
        if (statement.name === 'notifications.findNoticeRules') read.push(rows.map(({ title }: { title: string }) => title).join())
        return rows
      }
    },
  })
  await deliver(w, 'updated', ann, ids, db)
  t.deepEqual(read, ['one,two'])
  t.deepEqual(await inbox(w), [`one ${ann}`, `two ${ann}`])
})

test('rule filters: a rule that is off, gone, or of another type or event by the time of delivery makes no item', async (t) => {
  const { w, make, create } = await staff(t)
  const ann = await create({ name: 'Ann', salary: 300 })
  const name = { field: 'name', op: 'eq', value: 'Ann' }
  const changes: Record<string, object> = {
    off: { enabled: false },
    event: { event: 'created' },
    type: { object_type: 'locations' },
    same: { name: 'Other' },
  }
  const ids = [newId()]
  for (const filter of [null, name]) {
    for (const [title, change] of Object.entries(changes)) {
      if (filter && title === 'same') continue
      const id = await make({ title, event: 'updated', filter })
      const changed = await w.org.owner.put(`${rulesOf(w)}/${id}`, change)
      t.is(changed.status, 200, changed.text)
      ids.push(id)
    }
  }
  await deliver(w, 'updated', ann, ids)
  t.deepEqual(await inbox(w), [`same ${ann}`])
})

test('rule filters: a change without its record, from before the filter, is judged by the present record', async (t) => {
  const { w, make, create, remove } = await staff(t)
  const [ann, bob, cas] = [await create({ salary: 100 }), await create({ salary: 300 }), await create({ salary: 300 })]
  await remove(cas)
  for (const event of ['created', 'updated', 'deleted']) {
    const ids = [await make({ title: event, event, filter: [well] })]
    for (const record of event === 'deleted' ? [cas] : [ann, bob, cas]) await deliver(w, event, record, ids)
  }
  t.deepEqual(await inbox(w), [`created ${bob}`, `updated ${bob}`])
})
