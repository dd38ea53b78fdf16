import test, { type ExecutionContext } from 'ava'
import { byHand, chain } from '#test/features/flows/support.ts'
import { createFunction, handlerOf } from '#test/features/functions/support.ts'
import { createLine, type Line, lineOf, proven } from '#test/features/queues/support.ts'
import { atOnce, made, openArena, type Ring, rounds, tally } from '#test/races/arena.ts'
import { countDeadlocks, countFlowRuns } from '#test/races/rows.ts'
import type { Client } from '#test/support/client.ts'

const arena = openArena(test, {}, 'queues')

/** No deadlock occurred. */
async function requireNoDeadlock(t: ExecutionContext): Promise<void> {
  t.is(await countDeadlocks(arena.world().db), 0)
}

const keysOf = (count: number, mark: string | number): string[] => Array.from({ length: count }, (_, index) => `${mark} ${index}`)

async function counted(org: Ring, line: Line): Promise<Record<string, number>> {
  return (await made(org.owner.get(`${line.path}/summary`))).summary.by_stage
}

test('queues: claims at once give no item to two stations and leave none', async (t) => {
  const org = await arena.ring()
  const line = await createLine(t, org)
  for (let round = 0; round < rounds; round++) {
    await line.add(keysOf(50, round))
    const claims = await atOnce(20, org.owners, (client, index) => made(client.post(`${line.path}/claim`, { count: (index % 5) + 1 })))
    const ids = claims.flatMap(({ items }) => items.map(({ id }: { id: string }) => id))
    t.is(ids.length, 50)
    t.is(new Set(ids).size, 50)
  }
  await proven(t, org.owner, line)
})

/** A way into a stage; returns whether the item with this number entered. */
type Door = (client: Client, index: number) => Promise<boolean>

test('queues: a stage with a limit of five takes five items by any call, and a free place is taken once', async (t) => {
  const org = await arena.ring()
  const enter = await createFunction(t, org, handlerOf(`return sdk.queues.move('line', input.item.id, 'work')`))
  const stages = [
    { key: 'in', kind: 'start', buttons: [{ id: 'go', label: 'Go', function_id: enter.id }] },
    { key: 'work', wip_limit: 5 },
    { key: 'out', kind: 'terminal' },
  ]
  const line = await createLine(t, org, { stages })
  for (let round = 0; round < rounds; round++) {
    const keys = keysOf(20, round)
    const ids = await line.add(keys)
    const move: Door = async (client, index) => (await line.move(ids[index] ?? '', 'work', {}, client)).status === 200
    const scan: Door = async (client, index) => (await line.scan(keys[index] ?? '', {}, client)).data.verdict === 'moved'
    const journal: Door = async (client, index) => {
      const one = { scan_id: `${round} ${index}`, scanned_at: '2026-01-01T00:00:00Z', key: keys[index] }
      return (await made(client.post(`${line.path}/scan/batch`, { scans: [one] })))[0].verdict === 'moved'
    }
    const button: Door = async (client, index) =>
      (await made(client.post(`${line.path}/stages/in/action`, { button_id: 'go', item_ids: [ids[index]] })))[0].ok
    const sdk: Door = async (client, index) => {
      const run = await made(client.post(`${org.path}/functions/${enter.id}/invoke`, { input: { item: { id: ids[index] } } }))
      return run.error === undefined
    }
    const doors = [button, sdk, move, scan, journal, move, scan, journal, move, scan]
    const entered = await atOnce(20, org.owners, async (client, index) => (doors[index % doors.length] ?? move)(client, index))
    t.is(entered.filter(Boolean).length, 5)
    t.is((await counted(org, line)).work, 5)
    const inside = ids.filter((_, index) => entered[index])
    const outside = ids.filter((_, index) => !entered[index])
    await line.move(inside[0] ?? '', 'out')
    const next = await atOnce(5, org.owners, (client, index) => line.move(outside[index] ?? '', 'work', {}, client))
    t.deepEqual(tally(next), { 200: 1, 400: 4 })
    for (const id of ids) await org.owner.delete(`${line.path}/items/${id}`)
  }
  await proven(t, org.owner, line)
  await requireNoDeadlock(t)
})

test('queues: items that flows and records add exceed a stage’s limit; items that are moved, also by flows, do not', async (t) => {
  const org = await arena.ring()
  const { drain, db } = arena.world()
  const stages = [
    { key: 'in', kind: 'start' },
    { key: 'work', wip_limit: 5 },
  ]
  const intake = { enabled: true, filter: [{ field: 'name', op: 'contains', value: 'taken' }], stage: 'work', key_field: 'name' }
  const line = await createLine(t, org, { object_type: 'locations', stages, intake })
  const mover = await createFunction(t, org, handlerOf(`return sdk.queues.move('line', input.id, 'work')`))
  const flowOf = async (type: string, config: object) =>
    `${org.path}/flows/${(await made(org.owner.post(`${org.path}/flows`, { name: type, ...chain(byHand, ['b', type, config]) }))).id}/run`
  const adding = await flowOf('action.enqueue_item', { queue_key: line.key, key: '{{trigger.input}}', stage: 'work' })
  const moving = await flowOf('action.run_function', { function_id: mover.id, input: { id: '{{trigger.input}}' } })
  const inside = async (): Promise<{ id: string; key: string }[]> =>
    (await made(org.owner.get(`${line.path}/items?stage=work&limit=200`))).items
  for (let round = 0; round < rounds; round++) {
    const keys = keysOf(20, round)
    const ids = await line.add(keys)
    const nameOf = (index: number) => `taken ${round} ${index}`
    const ways: ((client: Client, index: number) => Promise<unknown>)[] = [
      (client, index) => made(client.post(adding, { input: nameOf(index) })),
      (client, index) => made(client.post(`${org.path}/records/locations`, { values: { name: nameOf(index) } })),
      (client, index) => made(client.post(moving, { input: ids[index] })),
      (client, index) => line.scan(keys[index] ?? '', {}, client),
      (client, index) => line.move(ids[index] ?? '', 'work', {}, client),
    ]
    await atOnce(20, org.owners, async (client, index) => ways[index % ways.length]?.(client, index))
    await drain()
    const all = await inside()
    const moved = all.filter(({ id }) => ids.includes(id))
    t.true(moved.length <= 5, `${moved.length} moved`)
    t.true(all.length >= 5, `${all.length} items, and moves were refused`)
    t.is(all.length - moved.length, 8, 'no addition is refused')
    // With room for one item, one of all moved items enters; in every other round only flows move.
    for (const { id } of [...moved, ...all.filter(({ id }) => !ids.includes(id)).slice(4)])
      await org.owner.delete(`${line.path}/items/${id}`)
    const left = ids.filter((id) => !moved.some((one) => one.id === id))
    await atOnce(Math.min(left.length, 10), org.owners, async (client, index) =>
      ways[index % 2 === 0 || round % 2 === 0 ? 2 : 4]?.(client, ids.indexOf(left[index] ?? '')),
    )
    await drain()
    t.is((await inside()).length, 5)
    for (const { id } of (await made(org.owner.get(`${line.path}/items?limit=200`))).items)
      await org.owner.delete(`${line.path}/items/${id}`)
  }
  const ok = await countFlowRuns(db, org.id, 'ok')
  t.true(ok >= rounds * 4 + rounds / 2, `${ok} runs succeeded, so flows added and moved`)
  await proven(t, org.owner, line)
  await requireNoDeadlock(t)
})

test('queues: one key that all callers add at once is one item, and so is one that all scan', async (t) => {
  const org = await arena.ring()
  const line = await createLine(t, org, { settings: { on_unknown_scan: 'create' } })
  for (let round = 0; round < rounds; round++) {
    const answers = await atOnce(20, org.owners, (client, index) => {
      const keys = [`one ${round}`, ...keysOf(4, `all ${round}`)]
      return made(client.post(`${line.path}/items`, { keys: index % 3 === 0 ? keys.reverse() : keys }))
    })
    t.is(
      answers.reduce((sum, { created }) => sum + created, 0),
      5,
    )
    t.is(
      answers.reduce((sum, { duplicates }) => sum + duplicates, 0),
      95,
    )
    t.is(new Set(answers.flatMap(({ items }) => items.map(({ id }: { id: string }) => id))).size, 5)
    const scans = await atOnce(20, org.owners, (client) => line.scan(`scanned ${round}`, { to_stage: 'work' }, client))
    const verdicts = scans.map(({ data }) => data.verdict)
    t.is(verdicts.filter((verdict) => verdict === 'created').length, 1, verdicts.join())
    t.is(verdicts.filter((verdict) => verdict === 'duplicate').length, 19, verdicts.join())
  }
  await proven(t, org.owner, line)
  await requireNoDeadlock(t)
})

test('queues: an item that all callers scan at once moves one stage for each accepted scan, up to the last stage', async (t) => {
  const org = await arena.ring()
  const stages = Array.from({ length: 10 }, (_, index) => ({ key: `s${index}`, kind: index === 0 ? 'start' : 'normal' }))
  const line = await createLine(t, org, { stages })
  for (let round = 0; round < rounds; round++) {
    const [id = ''] = await line.add([`key ${round}`])
    const scans = await atOnce(20, org.owners, (client) => line.scan(`key ${round}`, {}, client))
    const verdicts = scans.map(({ data }) => data.verdict)
    t.is(verdicts.filter((verdict) => verdict === 'moved').length, 9, verdicts.join())
    t.is(verdicts.filter((verdict) => verdict === 'duplicate').length, 11, verdicts.join())
    t.is((await line.item(id)).stage, 's9')
    t.is((await line.kinds(id)).length, 21)
  }
  await proven(t, org.owner, line)
})

test('queues: a journal that all callers send at once is judged once', async (t) => {
  const org = await arena.ring()
  const line = await createLine(t, org, { settings: { on_unknown_scan: 'create' } })
  for (let round = 0; round < rounds; round++) {
    const scans = Array.from({ length: 10 }, (_, index) => ({
      scan_id: `${round} ${index}`,
      scanned_at: `2026-01-01T00:00:${String(index).padStart(2, '0')}Z`,
      key: `key ${round} ${index % 4}`,
    }))
    const answers = await atOnce(20, org.owners, (client) => made(client.post(`${line.path}/scan/batch`, { scans })))
    const lists = answers.map((verdicts) => verdicts.map(({ scan_id, verdict }: Record<string, string>) => `${scan_id} ${verdict}`).join())
    t.is(new Set(lists).size, 1, lists.join('\n'))
    const { data } = await org.owner.get(`${line.path}/events?limit=10`)
    t.is(new Set(data.map(({ scan_id }: { scan_id: string }) => scan_id)).size, 10)
    t.true(data.every(({ scan_id }: { scan_id: string }) => scan_id.startsWith(`${round} `)))
  }
  await proven(t, org.owner, line)
  await requireNoDeadlock(t)
})

test('queues: journals with different keys, in opposite orders and beside moves, cause no deadlock', async (t) => {
  const org = await arena.ring()
  const line = await createLine(t, org)
  const keys = keysOf(20, 'key')
  const ids = await line.add(keys)
  for (let round = 0; round < rounds / 2; round++) {
    const to_stage = round % 2 === 0 ? 'work' : 'in'
    const answers = await atOnce(8, org.owners, (client, index) => {
      if (index >= 6) return line.move(ids[index] ?? '', to_stage, {}, client)
      const scans = (index % 4 < 2 ? keys : keys.toReversed()).map((key, place) => ({
        scan_id: `${round} ${index} ${place}`,
        scanned_at: new Date(1_700_000_000_000 + place).toISOString(),
        key,
        to_stage,
      }))
      return client.post(`${line.path}/scan/batch`, { scans }, { 'idempotency-key': `${round} ${index % 3}` })
    })
    // Two callers send each key with different scans: one is answered, and the other is refused.
    t.is(answers.filter(({ status }) => status === 200).length, 5)
    t.deepEqual(tally(answers), { 200: 5, 400: 3 })
  }
  await proven(t, org.owner, line)
  await requireNoDeadlock(t)
})

test('queues: opposite moves that write one record cause no deadlock', async (t) => {
  const org = await arena.ring()
  const record = (await made(org.owner.post(`${org.path}/records/locations`, { values: { name: 'Hall' } }))).id
  const patch = { record_patch: { address: '{{item.key}}' }, wip_limit: 100 }
  const stages = [
    { key: 'a', kind: 'start', ...patch },
    { key: 'b', ...patch },
  ]
  const line = await createLine(t, org, { object_type: 'locations', stages })
  const add = (stage: string) => line.add(keysOf(20, stage).map((key) => ({ key, stage, record_id: record })))
  const sides = { a: await add('a'), b: await add('b') }
  for (let round = 0; round < rounds; round++) {
    const [to, back] = round % 2 === 0 ? (['b', 'a'] as const) : (['a', 'b'] as const)
    const answers = await atOnce(40, org.owners, (client, index) =>
      index % 2 === 0 ? line.move(sides.a[index / 2] ?? '', to, {}, client) : line.move(sides.b[(index - 1) / 2] ?? '', back, {}, client),
    )
    t.deepEqual(tally(answers), { 200: 40 })
  }
  await proven(t, org.owner, line)
  await requireNoDeadlock(t)
})

test('queues: the deletion of an item is the last entry of its history, whatever stations do with it meanwhile', async (t) => {
  const org = await arena.ring()
  const press = await createFunction(t, org, handlerOf('return 1'))
  const stages = [
    { key: 'in', kind: 'start', buttons: [{ id: 'go', label: 'Go', function_id: press.id }] },
    { key: 'work' },
    { key: 'shut', from: ['work'] },
  ]
  const line = await createLine(t, org, { stages })
  for (let round = 0; round < rounds * 5; round++) {
    const key = `item ${round}`
    const [id = ''] = await line.add([key])
    const ways: ((client: Client, index: number) => Promise<unknown>)[] = [
      (client) => line.scan(key, { to_stage: 'in' }, client),
      (client) => line.scan(key, { to_stage: 'shut' }, client),
      (client) => client.put(`${line.path}/items/${id}`, { priority: 1 }),
      (client) => client.post(`${line.path}/claim`, { count: 1 }),
      (client) => client.post(`${line.path}/items/${id}/release`, { note: 'later' }),
      (client, index) => {
        const scan = { scan_id: `${round} ${index}`, scanned_at: '2026-01-01T00:00:00Z', key, to_stage: index % 2 === 0 ? 'in' : 'nowhere' }
        return client.post(`${line.path}/scan/batch`, { scans: [scan] })
      },
      (client, index) =>
        index < 7
          ? client.post(`${line.path}/stages/in/action`, { button_id: 'go', item_ids: [id] })
          : line.scan(key, { to_stage: 'in' }, client),
    ]
    await atOnce(20, org.owners, (client, index) =>
      index === 10 ? client.delete(`${line.path}/items/${id}`) : (ways[index % ways.length]?.(client, index) ?? Promise.resolve()),
    )
    const kinds = await line.kinds(id)
    t.is(kinds.indexOf('deleted'), kinds.length - 1, kinds.join())
  }
  await proven(t, org.owner, line)
})

test('queues: a stage is not removed while items enter it', async (t) => {
  const org = await arena.ring()
  const both = [{ key: 'in', kind: 'start' }, { key: 'more' }]
  const line = await createLine(t, org, { stages: both })
  for (let round = 0; round < rounds; round++) {
    const [dropped, ...added] = await atOnce(20, org.owners, (client, index) =>
      index === 0
        ? client.put(line.path, { stages: both.slice(0, 1) })
        : client.post(`${line.path}/items`, { keys: [`${round} ${index}`], stage: 'more' }),
    )
    const statuses = tally(added)
    const items = await org.owner.get(`${line.path}/items?stage=more&status=open&limit=200`)
    t.is(items.data.total, statuses[201] ?? 0)
    t.is(dropped?.status, items.data.total === 0 ? 200 : 400, JSON.stringify(statuses))
    t.is((await org.owner.put(line.path, { stages: both })).status, 200)
    for (const { id } of items.data.items) await org.owner.delete(`${line.path}/items/${id}`)
  }
  await proven(t, org.owner, lineOf(t, org.owner, org.path, line.id, line.key))
})
