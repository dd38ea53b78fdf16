import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import test from 'ava'
import { countQueueRows, historyTamperings, queueTamperings, raiseCounts } from '#test/features/queues/rows.ts'
import { createLine, plainStages, proven } from '#test/features/queues/support.ts'
import { createMember } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { Wire } from '#test/support/wire.ts'

const start = shareWorld(test)

test('queues: a queue takes its key from its name, keeps it, and shares it with no other', async (t) => {
  const { org } = await start()
  const { owner, path } = org
  const made = await owner.post(`${path}/queues`, { name: 'Wareneingang Süd 2' })
  t.is(made.status, 201)
  t.like(made.data, { key: 'wareneingang-sud-2', enabled: true, object_type: null })
  t.deepEqual(made.data.settings, { on_unknown_scan: 'reject', lease_seconds: 300, allow_duplicates: false, items_follow_records: false })
  t.deepEqual(
    made.data.stages.map(({ key, kind }: Record<string, string>) => [key, kind]),
    [
      ['todo', 'start'],
      ['doing', 'normal'],
      ['done', 'terminal'],
    ],
  )
  t.deepEqual(made.data.summary, { total: 0, open: 0, closed: 0, overdue: 0, unexpected: 0, by_stage: { todo: 0, doing: 0, done: 0 } })
  const taken = await owner.post(`${path}/queues`, { name: 'x', key: 'wareneingang-sud-2' })
  t.is(taken.status, 409)
  t.is(taken.body.error.code, 'KEY_TAKEN')
  const one = `${path}/queues/${made.data.id}`
  t.is((await owner.put(one, { key: 'other', name: 'x' })).status, 400)
  t.is((await owner.put(one, made.data)).status, 200)
  t.is((await owner.get(`${path}/queues/no-id`)).status, 400)
  t.is((await owner.get(`${path}/queues/${org.id}`)).status, 404)
  t.is((await owner.delete(one)).status, 204)
  t.is((await owner.get(one)).status, 404)
  t.is((await owner.post(`${path}/queues`, { name: 'again', key: 'wareneingang-sud-2' })).status, 201)
})

test('queues: an invalid definition is refused, and the error names the invalid part', async (t) => {
  const { org } = await start()
  const refused = async (body: object, message: RegExp) => {
    const answer = await org.owner.post(`${org.path}/queues`, { name: 'q', ...body })
    t.is(answer.status, 400, answer.text)
    t.regex(answer.body.error.message, message)
  }
  const fn = '01a1fbc8-8645-7571-bf7a-d5998224cc5c'
  await refused({ key: 'Q' }, /key must be 1 to 60 lowercase letters/)
  await refused({ name: '!' }, /key is required/)
  await refused({ stages: [{ key: 'a' }, { key: 'a' }] }, /stages\[1\]\.key must differ/)
  await refused({ stages: [{ key: 'a', from: ['b'] }] }, /stages\[0\]\.from\[0\] must be the key of one of the queue's stages, got b/)
  await refused({ stages: [{ key: 'a', wip_limit: -1 }] }, /stages\[0\]\.wip_limit must be at least 0/)
  await refused({ stages: [{ key: 'a', kind: 'end' }] }, /stages\[0\]\.kind must be one of/)
  await refused({ stages: Array.from({ length: 41 }, (_, index) => ({ key: `s${index}` })) }, /stages must have at most 40 items/)
  await refused(
    { stages: [{ key: 'a', on_enter: { function_id: fn, flow_id: fn } }] },
    /stages\[0\]\.on_enter must name a function or a flow/,
  )
  await refused({ stages: [{ key: 'a', on_enter: { function_id: fn } }] }, /on_enter\.function_id must be the id of a function/)
  await refused(
    { stages: [{ key: 'a', buttons: [{ label: 'Go', function_id: fn }] }] },
    /buttons\[0\]\.function_id must be the id of a function/,
  )
  await refused({ object_type: 'none_such' }, /object_type must be the key of a record type/)
  await refused(
    { object_type: 'locations', stages: [{ key: 'a', record_patch: { none: 'x' } }] },
    /record_patch must name fields of locations/,
  )
  await refused({ intake: { enabled: true } }, /intake\.enabled needs object_type/)
  await refused({ intake: { stage: 'none' } }, /intake\.stage must be the key/)
  const filter = [{ field: 'none', value: 'x' }]
  await refused({ object_type: 'locations', intake: { enabled: true, filter } }, /intake\.filter\[0\]\.field must be a field of locations/)
  await refused({ object_type: 'locations', intake: { key_field: 'none' } }, /intake\.key_field must be a field/)
  await refused({ settings: { lease_seconds: 0 } }, /settings\.lease_seconds must be at least 1/)
  const most = Array.from({ length: 40 }, (_, index) => ({ key: `s${index}` }))
  t.is((await org.owner.post(`${org.path}/queues`, { name: 'forty', stages: most })).status, 201)
})

test('queues: a queue whose record type was deleted can be renamed, and what was read can be sent back', async (t) => {
  const { org } = await start()
  t.is((await org.owner.post(`${org.path}/types`, { key: 'parcels', label: 'Parcels' })).status, 201)
  const intake = { enabled: true, filter: [] }
  const line = await createLine(t, org, { object_type: 'parcels', intake }, 'parcels')
  t.is((await org.owner.delete(`${org.path}/types/parcels`)).status, 204)
  const read = (await org.owner.get(line.path)).data
  const same = await org.owner.put(line.path, read)
  t.is(same.status, 200, same.text)
  const renamed = await org.owner.put(line.path, { name: 'x' })
  t.is(renamed.status, 200, renamed.text)
  t.like(renamed.data, { name: 'x', object_type: 'parcels', intake: { enabled: true } })
  const changed = await org.owner.put(line.path, { intake: { key_field: 'name' } })
  t.is(changed.status, 400)
  t.regex(changed.body.error.message, /object_type must be the key of a record type/)
})

test('queues: a change of the stages moves no item, and a stage with open items cannot be removed', async (t) => {
  const { org } = await start()
  const line = await createLine(t, org)
  const ids = await line.add(Array.from({ length: 300 }, (_, index) => ({ key: `k${index}`, stage: index % 3 === 0 ? 'work' : 'in' })))
  await line.move(ids[1] ?? '', 'out')
  const stages = [
    { key: 'out', kind: 'terminal', label: 'Gone' },
    { key: 'new', kind: 'start' },
    { key: 'work', label: 'Bench' },
    { key: 'in' },
  ]
  t.is((await org.owner.put(line.path, { stages })).status, 200)
  t.deepEqual((await line.summary()).by_stage, { out: 1, new: 0, work: 100, in: 199 })
  const dropped = await org.owner.put(line.path, { stages: [{ key: 'in' }] })
  t.is(dropped.status, 400)
  t.is(dropped.body.error.message, 'stages must keep work: 100 open items are in it')
  t.is((await org.owner.put(line.path, { stages: stages.slice(1) })).status, 200)
  t.is((await line.summary()).by_stage.out, 1)
  t.is((await line.summary()).total, 300)
  await proven(t, org.owner, line)
})

test('queues: the list shows the queues that its caller may see, and each permission is checked for the queue’s key', async (t) => {
  const w = await start()
  const { org } = w
  const [mine, other] = [await createLine(t, org, {}, 'mine'), await createLine(t, org, {}, 'other')]
  const rule = (...actions: string[]) => [{ effect: 'allow', actions, resources: ['mine'] }]
  const reader = await createMember(w, org, rule('queues:read'))
  t.deepEqual(
    (await reader.client.get(`${org.path}/queues`)).data.map(({ key }: { key: string }) => key),
    ['mine'],
  )
  t.is((await reader.client.get(other.path)).status, 403)
  t.is((await reader.client.post(`${mine.path}/items`, { keys: ['A'] })).status, 403)
  const station = await createMember(w, org, rule('queues:enqueue'))
  t.is((await station.client.post(`${mine.path}/items`, { keys: ['A'] })).status, 201)
  t.is((await station.client.post(`${other.path}/items`, { keys: ['A'] })).status, 403)
  t.is((await station.client.post(`${mine.path}/claim`, {})).status, 403)
  t.is((await station.client.get(`${org.path}/queues`)).status, 403)
  const maker = await createMember(w, org, [{ effect: 'allow', actions: ['queues:create'], resources: ['third'] }])
  t.is((await maker.client.post(`${org.path}/queues`, { name: 'Third' })).status, 201)
  t.is((await maker.client.post(`${org.path}/queues`, { name: 'Fourth' })).status, 403)
})

test('queues: a workspace has at most 200 queues', async (t) => {
  const { org } = await start()
  for (let made = 0; made < 200; made += 20) {
    await Promise.all(
      Array.from({ length: 20 }, (_, index) => org.owner.post(`${org.path}/queues`, { name: `q${made + index}`, stages: plainStages })),
    )
  }
  const last = await org.owner.post(`${org.path}/queues`, { name: 'one more' })
  t.is(last.status, 400)
  t.is(last.body.error.message, 'a workspace has at most 200 queues')
  t.is((await org.owner.get(`${org.path}/queues`)).data.length, 200)
})

test('queues: the deletion of a queue removes all of its rows and keeps one audit entry', async (t) => {
  const w = await start()
  const { org } = w
  const line = await createLine(t, org)
  await line.add(Array.from({ length: 50 }, (_, index) => `k${index}`))
  await line.claim({ count: 5 })
  t.is((await org.owner.delete(line.path)).status, 204)
  t.is((await org.owner.delete(line.path)).status, 404)
  await w.drain()
  t.deepEqual(await countQueueRows(w.db, line.id), { queues: 0, items: 0, history: 0, counts: 0, stages: 0 })
  const { data } = await org.owner.get(`${org.path}/audit?record_id=${line.id}&action=queue.deleted`)
  t.is(data.total, 1)
  t.like(data.entries[0], {
    action: 'queue.deleted',
    object_type: 'queue:line',
    before: { key: 'line', name: 'line', total: 50, open: 50, closed: 0 },
  })
})

test('queues: the database refuses changes of the history', async (t) => {
  const w = await start()
  const line = await createLine(t, w.org)
  await line.add(['A'])
  const message = /the history of a queue is only added to/
  for (const tamper of historyTamperings) await t.throwsAsync(tamper(w.db, line.id), { message })
})

test('queues: verify reports each row that was changed past the API', async (t) => {
  const w = await start()
  const line = await createLine(t, w.org)
  const ids = await line.add(['A', 'B', 'C', 'D', 'E'], { batch: 'b' })
  await line.claim()
  await line.move(ids[1] ?? '', 'work')
  await w.org.owner.patch(`${line.path}/items/${ids[1]}`, { due_at: '2029-01-01T01:00:00.5+01:00' })
  await proven(t, w.org.owner, line)
  const isFound = async (itemId: string | null, field?: string) => {
    const { data } = await w.org.owner.get(`${line.path}/verify`)
    t.false(data.ok)
    const found = data.differences.some(
      (one: { item_id: string | null; field: string }) => one.item_id === itemId && one.field === (field ?? one.field),
    )
    t.true(found, JSON.stringify(data.differences))
  }
  for (const [index, [field, tamper]] of Object.entries(queueTamperings).entries()) {
    const id = ids[index] ?? ''
    await tamper(w.db, id)
    await isFound(id, field)
  }
  await raiseCounts(w.db, line.id)
  await isFound(null)
  const { differences } = (await w.org.owner.get(`${line.path}/verify`)).data
  const named = (name: string) => differences.find(({ field }: { field: string }) => field === name)
  t.deepEqual(named('priority'), { item_id: ids[0], field: 'priority', expected: 0, found: 9 })
  t.like(named('due_at'), { item_id: ids[1], expected: '2029-01-01T00:00:00.500000Z', found: '2030-01-01T00:00:00.000000Z' })
})

test('queues: a request whose body arrives after the deletion of its queue is 404', async (t) => {
  const w = await start()
  const { owner } = w.org
  const line = await createLine(t, w.org)
  const body = JSON.stringify({ items: [{ key: 'A' }] })
  const head = [
    `POST ${line.path}/items HTTP/1.1`,
    ...['Host: localhost', 'Connection: close', `Authorization: Bearer ${owner.token}`],
    ...['Content-Type: application/json', `Content-Length: ${body.length}`, 'Expect: 100-continue'],
  ]
  const wire = new Wire(w.api.port)
  // The server answers 100 Continue when it has begun with the request.
  const begun = once(wire.socket, 'data')
  wire.send(`${head.join('\r\n')}\r\n\r\n`, body.slice(0, 9))
  await begun
  t.is((await owner.delete(line.path)).status, 204)
  // The server resolves the queue again if the body takes longer than 50 ms, so the delay is the subject. It resolves the queue before or
  // after the deletion, which makes no difference.
  await setTimeout(1_000)
  t.is((await wire.send(body.slice(9)).answer()).status, 404)
})
