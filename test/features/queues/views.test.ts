import test from 'ava'
import { createLine } from '#test/features/queues/support.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const start = shareWorld(test)

test('views: a list filters by each of its parameters, newest first, with the exact total', async (t) => {
  const { org } = await start()
  const line = await createLine(t, org)
  const record = '01a1fbc8-8645-7571-bf7a-d5998224cc5c'
  const [a = '', b = '', c = '', d = ''] = await line.add([
    { key: 'Box 100%', batch: 'b1', assignee_id: 'ann' },
    { key: 'box_2', batch: 'b1', record_id: record, stage: 'work' },
    { key: 'C', batch: 'pallet' },
    'D',
  ])
  await line.move(c, 'out')
  const found = async (query: object) => {
    const answer = await org.owner.get(`${line.path}/items?${new URLSearchParams(query as Record<string, string>)}`)
    t.is(answer.status, 200, answer.text)
    const ids = answer.data.items.map(({ id }: { id: string }) => id)
    t.is(answer.data.total, ids.length)
    return ids
  }
  t.deepEqual(await found({}), [d, c, b, a])
  t.deepEqual(await found({ stage: 'work' }), [b])
  t.deepEqual(await found({ stage: 'nowhere' }), [])
  t.deepEqual(await found({ status: 'open' }), [d, b, a])
  t.deepEqual(await found({ status: 'done' }), [c])
  t.deepEqual(await found({ batch: 'b1' }), [b, a])
  t.deepEqual(await found({ batch: '' }), [d])
  t.deepEqual(await found({ key: 'C' }), [c])
  t.deepEqual(await found({ q: 'BOX' }), [b, a])
  t.deepEqual(await found({ q: '0%' }), [a])
  t.deepEqual(await found({ q: 'x_' }), [b])
  t.deepEqual(await found({ q: 'alle' }), [c])
  t.deepEqual(await found({ assignee_id: 'ann' }), [a])
  t.deepEqual(await found({ assignee_id: '' }), [d, c, b])
  t.deepEqual(await found({ record_id: record, batch: 'b1', status: 'open' }), [b])
  const page = async (query: string) => (await org.owner.get(`${line.path}/items?${query}`)).data
  t.like(await page('limit=3'), { total: 4, next_offset: 3 })
  t.like(await page('limit=3&offset=3'), { total: 4, next_offset: null })
  t.like(await page('limit=3&offset=9'), { total: 4, next_offset: null, items: [] })
  t.like(await page('limit=1&q=box'), { total: 2, next_offset: 1 })
  t.is((await org.owner.get(`${line.path}/items?limit=201`)).status, 400)
  t.is((await org.owner.get(`${line.path}/items?record_id=x`)).status, 400)
  t.is((await org.owner.get(`${line.path}/items/x`)).status, 400)
  t.is((await org.owner.get(`${line.path}/items/${org.id}`)).status, 404)
})

test('views: a search for rare text uses the index, and one for common text reads all items', async (t) => {
  const { org } = await start()
  const line = await createLine(t, org)
  const keys = Array.from({ length: 60 }, (_, index) => `Crate ${index}`)
  const ids = await line.add([...keys.map((key) => ({ key, batch: 'dock' })), 'Pallet 7', { key: 'P8', batch: 'pallets' }])
  const total = async (query: string) => (await org.owner.get(`${line.path}/items?limit=1&${query}`)).data.total
  t.is(await total('q=crate'), 60)
  t.is(await total('q=crate%2059'), 1)
  t.is(await total('q=pallet'), 2)
  t.is(await total('q=dock'), 60)
  t.is(await total('q=dock&status=done'), 0)
  t.is(await total('q=none+such'), 0)
  t.is(await total('q=T+7'), 1)
  t.is(await total('q=7'), 7)
  t.is(await total('q=p8'), 1)
  t.is(await total('q=e'), 62)
  for (const none of ['8p', 'ü', '%5F', '%01']) t.is(await total(`q=${none}`), 0, none)
  await line.move(ids[59] ?? '', 'out')
  t.is(await total('q=crate+59&status=done'), 1)
  await org.owner.delete(`${line.path}/items/${ids[59]}`)
  t.is(await total('q=crate+59'), 0)
  t.is(await total('q=crate'), 59)
  const other = await createLine(t, org, {}, 'other')
  t.is((await org.owner.get(`${other.path}/items?q=pallet`)).data.total, 0)
})

test('views: a board shows the first items of each stage, and the list of a stage continues from there', async (t) => {
  const { org } = await start()
  const line = await createLine(t, org)
  const [a = '', b = '', c = '', d = '', e = ''] = await line.add(['a', { key: 'b', priority: 1 }, 'c', 'd', 'e'], { batch: 'x' })
  await line.move(d, 'out')
  await line.move(e, 'out')
  const { data } = await org.owner.get(`${line.path}/board?limit=1`)
  t.deepEqual(data.queue, { id: line.id, key: 'line', name: 'line' })
  const short = (stages: { key: string; items: { id: string }[]; total: number; next_offset: number | null }[]) =>
    stages.map(({ key, items, total, next_offset }) => [key, items.map(({ id }) => id), total, next_offset])
  t.deepEqual(short(data.stages), [
    ['in', [b], 3, 1],
    ['work', [], 0, null],
    ['out', [e], 2, 1],
  ])
  const rest = async (stage: string) =>
    (await org.owner.get(`${line.path}/stages/${stage}/items?offset=1`)).data.items.map(({ id }: { id: string }) => id)
  t.deepEqual(await rest('in'), [a, c])
  t.deepEqual(await rest('out'), [d])
  const other = await org.owner.get(`${line.path}/board?batch=none`)
  t.true(other.data.stages.every(({ items, total }: { items: object[]; total: number }) => items.length === 0 && total === 0))
  t.is((await org.owner.get(`${line.path}/stages/none/items`)).status, 404)
  t.is((await org.owner.get(`${line.path}/board?limit=0`)).status, 400)
})

test('views: a board and the list of a stage show items that are open in a terminal stage, and the list those closed in any other', async (t) => {
  const { org } = await start()
  const line = await createLine(t, org)
  const [a = '', b = '', c = '', d = '', e = ''] = await line.add(['a', 'b', 'c', { key: 'd', priority: 1 }, 'e'])
  await line.move(a, 'out')
  await line.move(b, 'out')
  await line.move(c, 'out', { status: 'open' })
  await line.move(d, 'out', { status: 'open' })
  await line.move(e, 'work', { status: 'failed' })
  const idsOf = (items: { id: string }[]) => items.map(({ id }) => id)
  const board = async (limit: number) =>
    (await org.owner.get(`${line.path}/board?limit=${limit}`)).data.stages.map((stage: { items: { id: string }[]; total: number }) => [
      idsOf(stage.items),
      stage.total,
    ])
  const nothing = [[], 0]
  t.deepEqual(await board(50), [nothing, nothing, [[d, c, b, a], 4]])
  t.deepEqual(await board(3), [nothing, nothing, [[d, c, b], 4]])
  const list = async (of: string) => {
    const answer = await org.owner.get(`${line.path}/stages/${of}`)
    t.is(answer.status, 200, answer.text)
    return [idsOf(answer.data.items), answer.data.total]
  }
  t.deepEqual(await list('out/items'), [[d, c, b, a], 4])
  t.deepEqual(await list('out/items?limit=2&offset=1'), [[c, b], 4])
  t.deepEqual(await list('out/items?limit=2&offset=2'), [[b, a], 4])
  t.deepEqual(await list('out/items?limit=1&offset=9'), [[], 4])
  t.deepEqual(await list('out/items?status=open'), [[d, c], 2])
  t.deepEqual(await list('out/items?status=done'), [[b, a], 2])
  t.deepEqual(await list('work/items'), [[e], 1])
  t.deepEqual(await list('work/items?status=open'), nothing)
})

test('views: a queue’s items are exported as CSV without text that a spreadsheet would run as a formula', async (t) => {
  const { org } = await start()
  const line = await createLine(t, org)
  await line.add([{ key: '=1+1', payload: { a: 'x,"y"' }, batch: 'b' }, 'B'])
  const csv = await org.owner.get(`${line.path}/items?batch=b`, { accept: 'text/csv' })
  t.is(csv.status, 200)
  t.is(csv.headers.get('content-type'), 'text/csv; charset=utf-8')
  const [head, row, end] = csv.text.split('\r\n')
  t.regex(head ?? '', /^id,key,stage,status,priority,source,batch,/)
  t.regex(row ?? '', /,'=1\+1,in,open,0,manual,b,/)
  t.true(row?.endsWith('"{""a"":""x,\\""y\\""""}"'))
  t.is(end, '')
  t.is((await org.owner.get(`${line.path}/items?status=none`, { accept: 'text/csv' })).status, 400)
})

test('views: the history is listed newest first, up to the requested limit', async (t) => {
  const { org } = await start()
  const line = await createLine(t, org)
  const [id] = await line.add(Array.from({ length: 120 }, (_, index) => `k${index}`))
  const events = async (query: string) => (await org.owner.get(`${line.path}/events${query}`)).data
  t.is((await events('')).length, 100)
  t.is((await events('?limit=500')).length, 120)
  t.is((await events(`?item_id=${id}`)).length, 1)
  t.is((await events(''))[0].key, 'k119')
  t.is((await org.owner.get(`${line.path}/events?limit=501`)).status, 400)
})
