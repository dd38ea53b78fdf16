import test from 'ava'
import { createFunction, handlerOf, invoke } from '#test/features/functions/support.ts'
import { addThreeItems, createFollowingQueue, northRule, queueRule, stages } from '#test/features/queues/following.ts'
import { proven } from '#test/features/queues/support.ts'
import { type Caller, createMember } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const start = shareWorld(test)

test('follow: an item of a record that the caller may not read cannot be read, edited, moved or deleted, and its buttons cannot be pressed', async (t) => {
  const queue = await createFollowingQueue(t, await start())
  const { w, line, reader } = queue
  const { id: function_id } = await createFunction(t, w.org, handlerOf('return input.item.key'))
  const button = { id: 'go', label: 'Go', function_id }
  const withButton = stages.map((stage) => (stage.key === 'in' ? { ...stage, buttons: [button] } : stage))
  t.is((await w.org.owner.put(line.path, { stages: withButton })).status, 200)
  const [a = '', b = ''] = await addThreeItems(queue)
  const item = `${line.path}/items/${b}`
  t.is((await reader.client.get(item)).status, 404)
  t.is((await reader.client.patch(item, { priority: 3 })).status, 404)
  t.is((await reader.client.patch(item, { release: true })).status, 404)
  t.is((await line.move(b, 'out', {}, reader.client)).status, 404)
  t.is((await reader.client.delete(item)).status, 404)
  const pressed = await reader.client.post(`${line.path}/stages/in/action`, { button_id: 'go', item_ids: [a, b] })
  t.deepEqual(pressed.data, [
    { item_id: a, ok: true },
    { item_id: b, ok: false, error: 'NOT_FOUND: the queue has no such item' },
  ])
  t.like(await line.item(b), { priority: 0, stage: 'in', status: 'open' })
  t.deepEqual(await line.kinds(b), ['added'])
  t.is((await reader.client.patch(`${line.path}/items/${a}`, { priority: 3 })).status, 200)
  t.is((await line.move(a, 'out', {}, reader.client)).status, 200)
  t.is((await reader.client.delete(`${line.path}/items/${a}`)).status, 204)
  await proven(t, w.org.owner, line)
})

test('follow: a scan of a hidden key is answered as unknown and adds nothing, even if the queue adds unknown keys', async (t) => {
  for (const on_unknown_scan of ['reject', 'create']) {
    const queue = await createFollowingQueue(t, await start(), { settings: { on_unknown_scan } })
    const { w, line, reader } = queue
    const [, b = ''] = await addThreeItems(queue)
    const scanned = await line.scan('b', { to_stage: 'out' }, reader.client)
    t.deepEqual(scanned.data, { verdict: 'unknown', message: 'b is not in line', item: null, previous_claim: null })
    const scans = [
      { scan_id: '1', scanned_at: '2026-01-01T00:00:00Z', key: 'b' },
      { scan_id: '2', scanned_at: '2026-01-01T00:00:01Z', key: 'a' },
      { scan_id: '3', scanned_at: '2026-01-01T00:00:02Z', key: 'b', to_stage: 'nowhere' },
    ]
    const sendBatch = async (client: Caller['client']) => (await client.post(`${line.path}/scan/batch`, { scans })).data
    const results = await sendBatch(reader.client)
    t.deepEqual(
      results.map(({ verdict, item }: { verdict: string; item: { key: string } | null }) => [verdict, item?.key]),
      [
        ['unknown', undefined],
        ['moved', 'a'],
        ['blocked', undefined],
      ],
    )
    t.deepEqual(
      (await sendBatch(reader.client)).map(({ verdict }: { verdict: string }) => verdict),
      ['unknown', 'moved', 'blocked'],
    )
    // The owner's scan of the hidden item does not reveal it to the reader.
    scans.splice(0, 3, { scan_id: '4', scanned_at: '2026-01-01T00:00:00Z', key: 'b' })
    t.like((await sendBatch(w.org.owner))[0], { verdict: 'moved', item: { id: b, stage: 'work' } })
    t.deepEqual(await sendBatch(reader.client), [
      { scan_id: '4', verdict: 'unknown', message: 'This scan has already been judged', item: null, conflict: false },
    ])
    t.deepEqual(await line.kinds(b), ['added', 'moved'])
    t.is((await line.summary()).total, 3)
    t.is((await line.scan('new', {}, reader.client)).data.verdict, on_unknown_scan === 'create' ? 'created' : 'unknown')
    await proven(t, w.org.owner, line)
    await w.org.owner.delete(line.path)
    await w.org.owner.delete(`${w.org.path}/types/jobs`)
  }
})

test('follow: adding the key of a hidden item answers a duplicate without an id, by the route and by the SDK', async (t) => {
  const queue = await createFollowingQueue(t, await start())
  const { w, line, reader } = queue
  const [a = '', b = ''] = await addThreeItems(queue)
  const hidden = { id: null, key: 'b', stage: null, status: null, duplicate: true }
  const added = await reader.client.post(`${line.path}/items`, { keys: ['b', 'a', 'd'] })
  t.is(added.status, 201)
  t.like(added.data, { created: 1, duplicates: 2 })
  t.deepEqual(added.data.items.slice(0, 2), [hidden, { id: a, key: 'a', stage: 'in', status: 'open', duplicate: true }])
  t.is((await w.org.owner.post(`${line.path}/items`, { keys: ['b'] })).data.items[0].id, b)
  const calls = handlerOf(`return {
    added: await sdk.queues.enqueue('line', [{ key: 'b' }]),
    scanned: await sdk.queues.scan('line', { key: 'b' }),
    items: (await sdk.queues.items('line')).items.map(({ key }) => key).sort(),
    claimed: (await sdk.queues.claim('line', { count: 50 })).items.map(({ key }) => key).sort(),
    moved: await sdk.queues.move('line', '${b}', 'out').catch(({ code }) => code),
  }`)
  const { id } = await createFunction(t, w.org, calls)
  t.deepEqual((await invoke(t, w.org, id, undefined, reader.client)).result, {
    added: { created: 0, duplicates: 1, items: [hidden] },
    scanned: { verdict: 'unknown', message: 'b is not in line', item: null, previous_claim: null },
    items: ['a', 'c', 'd'],
    claimed: ['a', 'c', 'd'],
    moved: 'NOT_FOUND',
  })
  await proven(t, w.org.owner, line)
})

test('follow: of two open items with one key, a scan takes the one that its caller may read', async (t) => {
  const { line, reader, createJob } = await createFollowingQueue(t, await start(), { settings: { allow_duplicates: true } })
  const [hidden = '', seen = ''] = await line.add([
    { key: 'k', record_id: await createJob('south') },
    { key: 'k', record_id: await createJob('north') },
  ])
  t.like((await line.scan('k', {}, reader.client)).data, { verdict: 'moved', item: { id: seen } })
  t.like((await line.scan('k')).data, { verdict: 'moved', item: { id: hidden } })
})

test('follow: 20 concurrent claimers get each item that they may see once, and no other', async (t) => {
  const { w, line, createJob } = await createFollowingQueue(t, await start())
  const seen = await Promise.all(Array.from({ length: 30 }, () => createJob('north')))
  const hidden = await Promise.all(Array.from({ length: 30 }, () => createJob('south')))
  // Hidden items have the higher priority, so that every claim meets them first.
  await line.add(
    seen.flatMap((id, index) => [
      { key: `h${index}`, record_id: hidden[index], priority: 5 },
      { key: `s${index}`, record_id: id },
    ]),
  )
  const claimers = await Promise.all(Array.from({ length: 20 }, () => createMember(w, w.org, [queueRule, northRule])))
  const claimed = (await Promise.all(claimers.map(({ client }) => line.claim({ count: 2 }, client)))).flat()
  t.true(claimed.every(({ key }) => key.startsWith('s')))
  t.is(new Set(claimed.map(({ id }) => id)).size, claimed.length)
  const [one] = claimers
  const rest = await line.claim({ count: 50, stage: 'in' }, one?.client)
  t.is(new Set([...claimed, ...rest].map(({ id }) => id)).size, 30)
  t.deepEqual(await line.claim({ count: 50 }, one?.client), [])
  t.is((await line.claim({ count: 50 })).length, 30)
  await proven(t, w.org.owner, line)
})

test('follow: an item is visible as long as its record is; the item of a deleted record is visible to readers of the whole type', async (t) => {
  const { w, line, reader, createJob } = await createFollowingQueue(t, await start())
  const { owner, path } = w.org
  const [kept, deleted] = [await createJob('south'), await createJob('north')]
  const [a = '', b = ''] = await line.add([
    { key: 'a', record_id: kept },
    { key: 'b', record_id: deleted },
  ])
  const readsAll = await createMember(w, w.org, [queueRule, { effect: 'allow', actions: ['records:read'], resources: ['jobs'] }])
  const readsNone = await createMember(w, w.org, [queueRule])
  const status = async (client: Caller['client'], id: string) => (await client.get(`${line.path}/items/${id}`)).status
  t.deepEqual([await status(reader.client, a), await status(reader.client, b)], [404, 200])
  await owner.put(`${path}/records/jobs/${kept}/values`, { values: { region: 'north' } })
  await owner.delete(`${path}/records/jobs/${deleted}`)
  t.deepEqual([await status(reader.client, a), await status(reader.client, b)], [200, 404])
  t.deepEqual([await status(readsAll.client, a), await status(readsAll.client, b)], [200, 200])
  t.deepEqual([await status(readsNone.client, a), await status(readsNone.client, b)], [404, 404])
  t.is((await readsNone.client.get(`${line.path}/summary`)).data.summary.total, 0)
  t.is((await owner.delete(`${path}/types/jobs`)).status, 204)
  t.deepEqual([await status(reader.client, a), await status(readsAll.client, a)], [404, 200])
})

test('follow: the limit of a stage and verify count hidden items, and verify needs queues:update while items follow their records', async (t) => {
  const { w, line, reader, createJob } = await createFollowingQueue(t, await start())
  const ids = await line.add([
    { key: 'h1', record_id: await createJob('south'), stage: 'work' },
    { key: 'h2', record_id: await createJob('south'), stage: 'work' },
    { key: 'a', record_id: await createJob('north') },
  ])
  const full = await line.move(ids[2] ?? '', 'work', {}, reader.client)
  t.is(full.status, 400)
  t.is(full.body.error.message, 'The stage Work (work) is at its limit of 2')
  const refused = await reader.client.get(`${line.path}/verify`)
  t.is(refused.status, 403)
  t.is(refused.body.error.message, 'Needs queues:update on line')
  const editor = await createMember(w, w.org, [{ effect: 'allow', actions: ['queues:read', 'queues:update'] }, northRule])
  const verified = await editor.client.get(`${line.path}/verify`)
  t.is(verified.status, 200, verified.text)
  t.like(verified.data, { ok: true, added: 3, open: 3 })
  await w.org.owner.put(line.path, { settings: { items_follow_records: false } })
  t.is((await reader.client.get(`${line.path}/verify`)).status, 200)
})
