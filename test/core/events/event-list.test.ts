import { randomUUID } from 'node:crypto'
import test from 'ava'
import { schema } from '#shared/platform/kernel/schema.ts'
import { lastSeq, readAll, readPage } from '#test/core/events/reading.ts'
import { addNumberedEvents, deleteEventsUpTo } from '#test/platform/events/rows.ts'
import { createMember, createOrg } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const shared = shareWorld(test)

test('event list: changes of records are numbered in their order, with who made them and why', async (t) => {
  const w = await shared()
  const { owner, ownerId } = w.org
  const after = await lastSeq(w)
  const { id } = (await owner.post(`${w.org.path}/records/locations`, { values: { name: 'a' } })).data
  await owner.put(`${w.org.path}/records/locations/${id}/values`, { values: { name: 'b' } })
  await owner.delete(`${w.org.path}/records/locations/${id}`)
  const events = await readAll(w, owner, after)
  t.deepEqual(
    events.map(({ seq, type, subject, data }) => ({ seq: seq - after, type, subject, data })),
    [
      {
        seq: 1,
        type: 'records.created',
        subject: { object_type: 'locations', id },
        data: { view: 'entered', before: null, after: { name: 'a' }, changed: ['name'] },
      },
      {
        seq: 2,
        type: 'records.updated',
        subject: { object_type: 'locations', id },
        data: { view: 'changed', before: { name: 'a' }, after: { name: 'b' }, changed: ['name'] },
      },
      {
        seq: 3,
        type: 'records.deleted',
        subject: { object_type: 'locations', id },
        data: { view: 'left', before: { name: 'b' }, after: null, changed: [] },
      },
    ],
  )
  const { entries } = (await owner.get(`${w.org.path}/audit?record_id=${id}`)).data
  t.deepEqual(
    events.map((event) => event.id),
    entries.map((entry: { id: string }) => entry.id).toReversed(),
  )
  for (const { actor, cause } of events) {
    t.deepEqual(actor, { id: ownerId, type: 'user' })
    t.deepEqual(cause, { kind: 'request', id: null })
  }
})

test('event list: pages follow each other, by types and by record type', async (t) => {
  const w = await shared()
  const { owner } = w.org
  const after = await lastSeq(w)
  for (const [type, values] of [
    ['locations', { name: 'a' }],
    ['invoices', { number: randomUUID() }],
    ['locations', { name: 'b' }],
  ] as const) {
    const { id } = (await owner.post(`${w.org.path}/records/${type}`, { values })).data
    await owner.delete(`${w.org.path}/records/${type}/${id}`)
  }
  const types = async (query: string) => (await readPage(w, owner, `?after=${after}&${query}`)).events.map(({ type }) => type)
  t.is((await types('limit=500')).length, 6)
  t.deepEqual(await types('types=records.deleted'), Array(3).fill('records.deleted'))
  t.deepEqual(await types('types=records.created,records.deleted&object_type=invoices'), ['records.created', 'records.deleted'])
  t.is((await types('types=records.*')).length, 6)
  t.deepEqual(await types('object_type=nothing'), [])
  const first = await readPage(w, owner, `?after=${after}&limit=4`)
  t.is(first.next_after, `${first.feed}:${after + 4}`)
  const second = await readPage(w, owner, `?after=${first.next_after}&limit=4`)
  t.deepEqual(
    [...first.events, ...second.events].map(({ seq }) => seq - after),
    [1, 2, 3, 4, 5, 6],
  )
  t.is(second.next_after, `${first.feed}:${second.last_seq}`)
  t.deepEqual((await readPage(w, owner, `?after=${second.next_after}`)).events, [])
})

test('event list: a request looks at 5,000 events, and says where to go on', async (t) => {
  const w = await shared()
  const org = await createOrg(w)
  const other = { ...w, org }
  const reader = await createMember(w, org)
  await addNumberedEvents(
    w.db,
    org.id,
    Array.from({ length: 5_100 }, () => 0),
  )
  const { events, next_after, last_seq, oldest_seq, feed } = await readPage(other, reader.client)
  t.deepEqual({ events, next_after, last_seq, oldest_seq }, { events: [], next_after: `${feed}:5000`, last_seq: 5_100, oldest_seq: 1 })
  t.is((await readPage(other, reader.client, `?after=${next_after}`)).next_after, `${feed}:5100`)
})

test('event list: a position in another list, ahead or before what is kept is refused', async (t) => {
  const w = await shared()
  const org = await createOrg(w)
  const other = { ...w, org }
  const empty = await readPage(other, org.owner)
  t.deepEqual({ events: empty.events, oldest: empty.oldest_seq, last: empty.last_seq }, { events: [], oldest: 1, last: 0 })
  await addNumberedEvents(w.db, org.id, [0, 0, 0, 0])
  await deleteEventsUpTo(w.db, org.id, 2)
  const { feed, oldest_seq } = await readPage(other, org.owner)
  t.is(oldest_seq, 3)
  const refusal = async (query: string) => {
    const { status, body } = await org.owner.get(`${org.path}/events?${query}`)
    t.is(status, 400, query)
    return body.error.message
  }
  t.regex(await refusal('after=5'), /after is ahead of the list, whose last number is 4/)
  t.regex(await refusal('after=1'), /oldest kept number, which is 3/)
  t.regex(await refusal(`after=${randomUUID()}:3`), new RegExp(`another list of events; this one is ${feed}`))
  for (const after of ['x', `${feed}:`, `:3`, `${feed}:3:4`, '-1', '3.5'])
    t.regex(await refusal(`after=${after}`), /after must be next_after/)
  t.regex(await refusal('types=records.created,records.changed'), /there is no type "records.changed"/)
  t.regex(await refusal('types=record.*'), /there is no type "record.\*"/)
  t.regex(await refusal('limit=501'), /limit/)
  for (const after of ['2', '4', `${feed}:2`]) t.is((await org.owner.get(`${org.path}/events?after=${after}`)).status, 200, after)
})

test('event list: the types have schemas and examples, and the description has them as webhooks', async (t) => {
  const w = await shared()
  const { data } = await (await createMember(w, w.org)).client.get(`${w.org.path}/events/types`)
  t.true(data.length >= 3)
  for (const { type, schema: json, example } of data) {
    t.deepEqual(schema(json).parse(example), example)
    t.throws(() => schema(json).parse({ ...example, type: 'another' }), undefined, type)
    t.throws(() => schema(json).parse({ ...example, subject: {} }), undefined, type)
  }
  const { webhooks } = (await w.visitor.get('/openapi.json')).body
  t.deepEqual(
    Object.keys(webhooks),
    data.map(({ type }: { type: string }) => type),
  )
  for (const { type, example } of data) t.deepEqual(webhooks[type].post.requestBody.content['application/json'].example, example)
})
