import test from 'ava'
import { createFunction, handlerOf, runBody } from '#test/features/functions/support.ts'
import { readRunEndings } from '#test/features/queues/rows.ts'
import { createLine, proven } from '#test/features/queues/support.ts'
import { readCauses } from '#test/support/audit.ts'
import { createMember } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { hearSent } from '#test/support/watch/sent.ts'

const start = shareWorld(test)

test('stages: a move first writes the stage’s patch to the linked record as the caller; if that is refused, the item does not move', async (t) => {
  const w = await start()
  const { owner, path } = w.org
  const make = async (name: string) => (await owner.post(`${path}/records/locations`, { values: { name } })).data.id as string
  const stages = [
    { key: 'in', kind: 'start' },
    {
      key: 'work',
      record_patch: {
        address: '{{item.key}} at {{ item.payload.where.dock }} by {{principal.id}}{{item.payload.none}}',
        timezone: '{{nothing}}',
      },
    },
    { key: 'bad', record_patch: { name: '' } },
    { key: 'out', kind: 'terminal' },
  ]
  const line = await createLine(t, w.org, { object_type: 'locations', stages })
  const [hall, gone] = [await make('Hall'), await make('Gone')]
  const [a = '', b = '', c = ''] = await line.add([
    { key: 'A', record_id: hall, payload: { where: { dock: 7 } } },
    { key: 'B', record_id: gone },
    { key: 'C' },
  ])
  t.is((await line.move(a, 'work')).status, 200)
  const patched = (await owner.get(`${path}/records/locations/${hall}`)).data.values
  t.is(patched.address, `A at 7 by ${w.org.ownerId}`)
  t.is(patched.timezone, '{{nothing}}')
  const [moved] = (await owner.get(`${line.path}/events?item_id=${a}`)).data
  t.like(moved, { kind: 'moved', to_stage: 'work' })
  t.deepEqual(await readCauses(w.org, `record_id=${hall}`), [
    ['created locations: request', null],
    ['updated locations: queue', moved.id],
  ])
  const refused = await line.move(a, 'bad')
  t.is(refused.status, 400)
  t.regex(refused.body.error.message, /values\.name/)
  const blocked = (await line.scan('A')).data
  t.like(blocked, { verdict: 'blocked' })
  t.regex(blocked.message, /values\.name/, 'who scans sees the words')
  const [noted] = (await owner.get(`${line.path}/events?item_id=${a}`)).data
  t.is(noted.note, 'VALIDATION_ERROR: the record patch was refused', 'others see the code, since words may hold values')
  t.is((await line.item(a)).stage, 'work')
  const mover = await createMember(w, w.org, [{ effect: 'allow', actions: ['queues:transition', 'records:read'] }])
  const forbidden = await line.move(b, 'work', {}, mover.client)
  t.is(forbidden.status, 403)
  t.is(forbidden.body.error.message, 'Needs records:update on locations')
  t.is((await line.scan('B', {}, mover.client)).data.verdict, 'blocked')
  await owner.delete(`${path}/records/locations/${gone}`)
  t.is((await line.move(b, 'work')).status, 404)
  t.is((await line.move(c, 'work', {}, mover.client)).status, 200)
  await proven(t, owner, line)
})

test('stages: a refused move rolls the patch back', async (t) => {
  const { org } = await start()
  const id = (await org.owner.post(`${org.path}/records/locations`, { values: { name: 'Hall' } })).data.id
  const stages = [
    { key: 'in', kind: 'start' },
    { key: 'work', wip_limit: 1, record_patch: { address: '{{item.key}}' } },
  ]
  const line = await createLine(t, org, { object_type: 'locations', stages })
  const [a = '', b = ''] = await line.add([
    { key: 'A', record_id: id },
    { key: 'B', record_id: id },
  ])
  t.is((await line.move(a, 'work')).status, 200)
  t.is((await line.move(b, 'work')).status, 400)
  t.is((await org.owner.get(`${org.path}/records/locations/${id}`)).data.values.address, 'A')
})

test('stages: entering a stage runs its function once, with the lesser of the mover’s and the author’s rights', async (t) => {
  const w = await start()
  const { owner, path, ownerId } = w.org
  const note = await createFunction(
    t,
    w.org,
    handlerOf(`
      const { item, from_stage, to_stage, queue } = input
      return sdk.records.create('locations', { name: [item.key, from_stage, to_stage, queue.key].join(' ') })`),
  )
  const stages = [
    { key: 'in', kind: 'start', on_enter: { function_id: note.id } },
    { key: 'work', on_enter: { function_id: note.id } },
  ]
  const line = await createLine(t, w.org, { stages })
  const [a = ''] = await line.add(['A', 'B'])
  await line.move(a, 'work')
  await w.drain()
  const names = async () =>
    (await owner.get(`${path}/records/locations?sort=name&dir=asc`)).data.records.map(
      ({ values }: { values: { name: string } }) => values.name,
    )
  t.deepEqual(await names(), ['A  in line', 'A in work line', 'B  in line'])
  const mover = await createMember(w, w.org, [{ effect: 'allow', actions: ['queues:transition'] }])
  await line.move(a, 'in', {}, mover.client)
  await w.drain()
  t.is((await names()).length, 3)
  const { runs } = (await owner.get(`${path}/functions/${note.id}/runs`)).data
  t.is(runs.length, 4)
  t.is(runs.find(({ error }: { error?: string }) => error)?.actor_id, mover.id)
  t.true(runs.some(({ actor_id }: { actor_id: string }) => actor_id === ownerId))
  const editor = await createMember(w, w.org, [{ effect: 'allow', actions: ['queues:update'] }])
  const changed = [...stages, { key: 'more', on_enter: { function_id: note.id } }]
  t.is((await editor.client.put(line.path, { stages: changed })).status, 403)
  t.is((await editor.client.put(line.path, { stages: [...stages, { key: 'more' }] })).status, 200)
  t.is((await owner.put(line.path, { stages: [{ key: 'in', on_enter: { function_id: w.org.id } }] })).status, 400)
})

test('stages: the runs of many items that enter a stage together are enqueued by one statement', async (t) => {
  const w = await start()
  const fn = await createFunction(t, w.org, handlerOf('return input.item.key'))
  const line = await createLine(t, w.org, { stages: [{ key: 'in', kind: 'start', on_enter: { function_id: fn.id } }] })
  const filed: string[] = []
  t.teardown(hearSent(({ name = '' }) => ['jobs.insertGatedJobs', 'jobs.insertOperationRows'].includes(name) && filed.push(name)))
  await line.add(
    Array.from({ length: 100 }, (_, index) => `k${index}`),
    { source: 'import' },
  )
  await w.drain()
  t.deepEqual(filed, ['jobs.insertOperationRows', 'jobs.insertGatedJobs'])
  t.deepEqual(await readRunEndings(w.db, fn.id), [{ ending: 'returned', runs: 100 }])
})

test('stages: functions that trigger each other through stages stop after eight levels, and the item shows the error', async (t) => {
  const w = await start()
  const { owner, path } = w.org
  const hop = await createFunction(
    t,
    w.org,
    handlerOf(`
      const { item, to_stage, queue } = input
      const { id } = await sdk.queues.move(queue.key, item.id, to_stage === 'in' ? 'work' : 'in', { claim_token: undefined })
      return id`),
  )
  const stages = ['in', 'work'].map((key) => ({ key, on_enter: { function_id: hop.id } }))
  const line = await createLine(t, w.org, { stages })
  const [a = ''] = await line.add(['A'])
  await w.drain()
  t.is((await owner.get(`${path}/functions/${hop.id}/runs`)).data.runs.length, 8)
  const [last] = (await owner.get(`${line.path}/events?item_id=${a}`)).data
  t.like(last, { kind: 'moved', note: 'on_enter was not run: automations set each other off more than 8 deep' })
  t.is((await line.kinds(a)).length, 9)
  await proven(t, owner, line)
})

test('stages: a button runs its function for each item of its stage and returns the result of each', async (t) => {
  const w = await start()
  const { owner } = w.org
  const press = await createFunction(
    t,
    w.org,
    handlerOf(`
      if (input.item.key === 'bad') throw new Error('no label')
      return sdk.queues.move(input.queue.key, input.item.id, input.input.to)`),
  )
  const button = { id: 'print', label: 'Print', function_id: press.id, input: { to: 'work' } }
  const stages = [{ key: 'in', kind: 'start', buttons: [button] }, { key: 'work' }]
  const line = await createLine(t, w.org, { stages })
  const [a = '', bad = '', other = ''] = await line.add(['A', 'bad', { key: 'other', stage: 'work' }])
  const action = `${line.path}/stages/in/action`
  const pressed = await owner.post(action, { button_id: 'print', item_ids: [a, bad, other, w.org.id] })
  t.is(pressed.status, 200, pressed.text)
  t.deepEqual(pressed.data, [
    { item_id: a, ok: true },
    { item_id: bad, ok: false, error: 'no label' },
    { item_id: other, ok: false, error: 'VALIDATION_ERROR: the item is open in work' },
    { item_id: w.org.id, ok: false, error: 'NOT_FOUND: the queue has no such item' },
  ])
  t.is((await line.item(a)).stage, 'work')
  t.deepEqual(await line.kinds(a), ['added', 'moved', 'button'])
  const [failed] = (await owner.get(`${line.path}/events?item_id=${bad}`)).data
  t.like(failed, { kind: 'button', note: 'function failed' }, 'the words of the function are for who pressed the button')
  t.is((await owner.post(action, { button_id: 'none', item_ids: [a] })).status, 404)
  t.is((await owner.post(`${line.path}/stages/none/action`, { button_id: 'print', item_ids: [a] })).status, 404)
  t.is((await owner.post(action, { button_id: 'print', item_ids: [] })).status, 400)
  t.is((await owner.post(action, { button_id: 'print', item_ids: Array(26).fill(a) })).status, 400)
  const mover = await createMember(w, w.org, [{ effect: 'allow', actions: ['queues:transition'] }])
  t.is((await mover.client.post(action, { button_id: 'print', item_ids: [bad] })).status, 403)
  await proven(t, owner, line)
})

test('stages: functions use queues by their keys, with the answers of the API', async (t) => {
  const w = await start()
  const line = await createLine(t, w.org, { settings: { on_unknown_scan: 'create' } })
  const { result, error, steps } = await runBody(
    t,
    w.org,
    `const failed = (call) => call.then(() => null, ({ code, message }) => code + ' ' + message)
     const added = await sdk.queues.enqueue('line', [{ key: 'A', priority: 3, payload: { n: 1 } }, { key: 'B' }])
     const { items: [mine] } = await sdk.queues.claim('line')
     const moved = await sdk.queues.move('line', mine.id, 'work', { claim_token: mine.claim_token })
     const scanned = await sdk.queues.scan('line', { key: 'C' })
     const { total } = await sdk.queues.items('line', { status: 'open', limit: 1 })
     return { added, mine: mine.key, stage: moved.stage, verdict: scanned.verdict, total,
       failures: [await failed(sdk.queues.claim('none')), await failed(sdk.queues.move('line', mine.id, 'none'))] }`,
  )
  t.is(error, undefined)
  t.like(result, { mine: 'A', stage: 'work', verdict: 'created', total: 3 })
  t.is(result.added.created, 2)
  t.deepEqual(result.failures, ['NOT_FOUND Not found', 'NOT_FOUND The queue has no stage none'])
  t.is(steps[0].method, 'queues.enqueue')
  const { data } = await w.org.owner.get(`${line.path}/items?key=A`)
  t.is(data.items[0].source, 'function')
  await w.org.owner.patch(w.org.path, { apps: { queues: false } })
  const off = await runBody(t, w.org, `return sdk.queues.items('line').catch(({ code }) => code)`)
  t.is(off.result, 'NOT_FOUND')
  t.is((await w.org.owner.get(line.path)).status, 404)
  await w.org.owner.patch(w.org.path, { apps: { queues: true } })
})

test('stages: entering a stage starts its flow once for each item, as the flow’s editor', async (t) => {
  const w = await start()
  const { owner, path } = w.org
  const name = '{{trigger.input.item.key}} from {{trigger.input.from_stage}}'
  const nodes = [
    { id: 't', type: 'trigger.manual' },
    { id: 'n', type: 'action.create_record', config: { object_type: 'locations', values: { name } } },
  ]
  const flow = await owner.post(`${path}/flows`, { name: 'Enter', nodes, edges: [{ source: 't', target: 'n' }] })
  t.is(flow.status, 201, flow.text)
  t.deepEqual(flow.data.problems, [])
  const stages = [
    { key: 'in', kind: 'start' },
    { key: 'work', on_enter: { flow_id: flow.data.id } },
  ]
  const line = await createLine(t, w.org, { stages })
  const [a = ''] = await line.add(['A'])
  const mover = await createMember(w, w.org, [{ effect: 'allow', actions: ['queues:transition', 'queues:update'] }])
  t.is((await line.move(a, 'work', {}, mover.client)).status, 200)
  await w.drain()
  const { records } = (await owner.get(`${path}/records/locations`)).data
  t.deepEqual(
    records.map(({ values }: { values: { name: string } }) => values.name),
    ['A from in'],
  )
  const more = (flowId: string) => ({ stages: [...stages, { key: 'more', on_enter: { flow_id: flowId } }] })
  t.is((await mover.client.put(line.path, more(flow.data.id))).status, 403)
  t.is((await owner.put(line.path, more(w.org.id))).status, 400)
})
