import test from 'ava'
import { readClaimedItems } from '#test/features/queues/rows.ts'
import { createLine, proven } from '#test/features/queues/support.ts'
import { eventually } from '#test/support/eventually.ts'
import { createMember, createService } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { Wire } from '#test/support/wire.ts'

/** The world's time in milliseconds; only tests move it, so that no lease ends by itself. */
let now = Date.now()
const start = shareWorld(test, {}, { now: () => new Date(now) })
const pass = (seconds: number) => {
  now += seconds * 1_000
}

test('claims: a claim takes the highest priority first, then the oldest, and shows its token to nobody else', async (t) => {
  const { org } = await start()
  const line = await createLine(t, org)
  const [a, b, c] = await line.add(['a', { key: 'b', priority: 5 }, { key: 'c', priority: 5, stage: 'work' }, { key: 'd', stage: 'out' }])
  const [first] = await line.claim()
  t.is(first?.id, b)
  t.is(first?.claimed_by, org.ownerId)
  t.is(first?.attempts, 1)
  t.truthy(first?.claim_token)
  t.deepEqual(
    (await line.claim({ count: 50 })).map(({ id }) => id),
    [c, a],
  )
  t.deepEqual(await line.claim({ count: 50 }), [])
  t.deepEqual(await line.claim({ stage: 'out' }), [])
  const seen = await line.item(b ?? '')
  t.false('claim_token' in seen)
  t.is(seen.attempts, 1)
  t.is((await org.owner.post(`${line.path}/claim`, { count: 51 })).status, 400)
  t.is((await org.owner.post(`${line.path}/claim`, { count: 0 })).status, 400)
  t.is((await org.owner.post(`${line.path}/claim`, { stage: 'nowhere' })).status, 404)
  await proven(t, org.owner, line)
})

test('claims: an expired claim returns the item, and the next claim records the expiry', async (t) => {
  const { org } = await start()
  const line = await createLine(t, org, { settings: { lease_seconds: 2 } })
  const [id = ''] = await line.add(['a'])
  await line.claim()
  pass(1)
  t.is((await line.item(id)).claimed_by, org.ownerId)
  t.deepEqual(await line.claim(), [])
  pass(1.1)
  t.like(await line.item(id), { claimed_by: null, claim_expires_at: null, attempts: 1 })
  const [again] = await line.claim()
  t.like(again, { id, attempts: 2 })
  t.deepEqual(await line.kinds(id), ['added', 'claimed', 'expired', 'claimed'])
  await proven(t, org.owner, line)
})

test('claims: of two stations with one key, the late one cannot finish an item that the other has claimed', async (t) => {
  const w = await start()
  const { org } = w
  const line = await createLine(t, org, { settings: { lease_seconds: 2 } })
  const station = await createService(w, org, [{ effect: 'allow', actions: ['*'] }])
  const [id = ''] = await line.add(['a'])
  const [mine] = await line.claim({}, station.client)
  pass(3)
  const [theirs] = await line.claim({}, station.client)
  const stale = 'claim_token has expired'
  const late = await line.move(id, 'work', { claim_token: mine?.claim_token }, station.client)
  t.is(late.status, 400)
  t.is(late.body.error.message, stale)
  const edit = await station.client.patch(`${line.path}/items/${id}`, { release: true, claim_token: mine?.claim_token })
  t.is(edit.body.error.message, stale)
  const scan = await line.scan('a', { claim_token: mine?.claim_token }, station.client)
  t.like(scan.data, { verdict: 'blocked', message: stale })
  t.is((await line.item(id)).claim_expires_at, theirs?.claim_expires_at ?? '')
  t.is((await line.move(id, 'work', { claim_token: theirs?.claim_token }, station.client)).data.stage, 'work')
  t.is((await line.move(id, 'in', { claim_token: theirs?.claim_token }, station.client)).status, 400)
  t.like(await line.item(id), { claimed_by: null, stage: 'work' })
  await proven(t, org.owner, line)
})

test('claims: without a token, a caller that lost its claim may not move or release the item; a supervisor may', async (t) => {
  const w = await start()
  const { org } = w
  const line = await createLine(t, org, { settings: { lease_seconds: 2 } })
  const rights = [{ effect: 'allow', actions: ['queues:transition', 'queues:read'] }]
  const [anna, ben] = [await createMember(w, org, rights), await createMember(w, org, rights)]
  const [id = ''] = await line.add(['a'])
  await line.claim({}, anna.client)
  pass(3)
  t.is((await anna.client.patch(`${line.path}/items/${id}`, { release: true })).status, 200)
  await line.claim({}, anna.client)
  pass(3)
  await line.claim({}, ben.client)
  const lost = await line.move(id, 'work', {}, anna.client)
  t.is(lost.status, 400)
  t.is(lost.body.error.message, 'Your claim of the item expired, and another caller has claimed it')
  t.is((await anna.client.patch(`${line.path}/items/${id}`, { release: true })).status, 400)
  t.is((await anna.client.patch(`${line.path}/items/${id}`, { priority: 1 })).status, 200)
  t.is((await line.scan('a', {}, anna.client)).data.verdict, 'blocked')
  t.is((await org.owner.patch(`${line.path}/items/${id}`, { release: true, note: 'shift ends' })).data.claimed_by, null)
  t.is((await line.move(id, 'work', {}, anna.client)).status, 200)
  await proven(t, org.owner, line)
})

test('claims: a claim repeated with its Idempotency-Key returns the same items', async (t) => {
  const { org } = await start()
  const line = await createLine(t, org)
  await line.add(['a', 'b', 'c'])
  const ask = () => org.owner.post(`${line.path}/claim`, { count: 2 }, { 'idempotency-key': 'k1' })
  const [first, again] = [await ask(), await ask()]
  t.deepEqual(first.data, again.data)
  t.true(first.data.items.every(({ attempts }: { attempts: number }) => attempts === 1))
  t.is((await line.claim({ count: 5 })).length, 1)
})

test('claims: a claim whose answer was lost is repeated with its Idempotency-Key; without one, its items return when the lease ends', async (t) => {
  const w = await start()
  const { org } = w
  const line = await createLine(t, org, { settings: { lease_seconds: 2 } })
  await line.add(Array.from({ length: 10 }, (_, index) => `k${index}`))
  const path = `${line.path}/claim`
  const claims = () => readClaimedItems(w.db, line.id)
  /** Sends a claim and breaks the connection off once it is committed, so that its answer is lost. */
  const cut = async (...headers: string[]) => {
    const known = (await claims()).length
    const body = JSON.stringify({ count: 1 })
    const head = [`POST ${path} HTTP/1.1`, 'Host: localhost', `Authorization: Bearer ${org.owner.token}`, 'Content-Type: application/json']
    const wire = new Wire(w.api.port).send([...head, `Content-Length: ${body.length}`, ...headers].join('\r\n'), '\r\n\r\n')
    wire.socket.pause()
    wire.send(body)
    await eventually(async () => (await claims()).length > known)
    wire.breakOff()
    return (await claims())[known] ?? ''
  }
  for (let number = 0; number < 5; number++) {
    const taken = await cut(`Idempotency-Key: cut ${number}`)
    const again = await org.owner.post(path, { count: 1 }, { 'idempotency-key': `cut ${number}` })
    t.is(again.data.items[0].id, taken)
    t.is(again.data.items[0].attempts, 1)
    t.is((await line.item(taken)).attempts, 1)
    t.is((await line.move(taken, 'out', { claim_token: again.data.items[0].claim_token })).status, 200)
  }
  const lost = await cut()
  t.is((await line.item(lost)).claimed_by, org.ownerId)
  t.false((await line.claim({ count: 50 })).some(({ id }) => id === lost))
  pass(2.1)
  t.is((await line.item(lost)).claimed_by, null)
  const back = (await line.claim({ count: 50 })).find(({ id }) => id === lost)
  t.is(back?.attempts, 2)
  await proven(t, org.owner, line)
})

test('claims: an item is overdue by the limit of its stage or by due_at, whichever is earlier', async (t) => {
  const { org } = await start()
  const stages = [{ key: 'in', kind: 'start', sla_seconds: 10 }, { key: 'work' }, { key: 'out', kind: 'terminal', sla_seconds: 1 }]
  const line = await createLine(t, org, { stages })
  const [a = '', b = '', c = ''] = await line.add([{ key: 'a', batch: 'early' }, { key: 'b', stage: 'work' }, 'c'])
  const due = new Date(now + 20_000).toISOString()
  await org.owner.patch(`${line.path}/items/${b}`, { due_at: due })
  await line.move(c, 'out')
  const overdue = async () => {
    const { data } = await org.owner.get(`${line.path}/items?overdue=true`)
    const ids = data.items.map(({ id }: { id: string }) => id)
    t.is(data.total, ids.length)
    t.is((await line.summary()).overdue, ids.length)
    t.is((await line.summary('')).overdue, ids.length)
    for (const id of [a, b, c]) t.is((await line.item(id)).overdue, ids.includes(id))
    return ids
  }
  pass(9)
  t.deepEqual(await overdue(), [])
  pass(2)
  t.deepEqual(await overdue(), [a])
  pass(10)
  t.deepEqual(await overdue(), [b, a])
  await line.move(a, 'work')
  t.deepEqual(await overdue(), [b])
  t.is((await org.owner.get(`${org.path}/queues`)).data[0].summary.overdue, 1)
})

test('claims: the answer to a move, a scan or a release without the token names the claimant whose claim ended, and the history names both callers', async (t) => {
  const w = await start()
  const { org } = w
  const line = await createLine(t, org)
  const [a = '', b = '', c = ''] = await line.add(['a', 'b', 'c', 'd'])
  const station = await createService(w, org, [{ effect: 'allow', actions: ['*'] }])
  const claimed = await line.claim({ count: 4 }, station.client)
  const ended = { by: station.id, expires_at: claimed[0]?.claim_expires_at }
  t.deepEqual((await line.move(a, 'work')).data.previous_claim, ended)
  t.deepEqual((await org.owner.patch(`${line.path}/items/${b}`, { release: true })).data.previous_claim, ended)
  t.deepEqual((await line.scan('d')).data.previous_claim, ended)
  t.is((await line.scan('d')).data.previous_claim, null, 'nobody held it')
  const token = claimed.find(({ id }) => id === c)?.claim_token
  t.is((await line.move(c, 'work', { claim_token: token }, station.client)).data.previous_claim, null)
  t.is((await line.move(a, 'in')).data.previous_claim, null, 'nobody held it')
  t.is((await org.owner.patch(`${line.path}/items/${a}`, { priority: 1 })).data.previous_claim, null)
  for (const [item, kind] of [
    [a, 'moved'],
    [b, 'released'],
  ] as const) {
    const entries = (await org.owner.get(`${line.path}/events?item_id=${item}`)).data
    t.like(
      entries.find(
        (entry: { kind: string; to_stage: string }) => (entry.kind === kind && entry.to_stage !== 'in') || entry.kind === 'released',
      ),
      { actor_id: org.ownerId, previous_claim: ended },
    )
    t.is(entries.at(-1).previous_claim, null)
  }
  // A claim that has run out is none.
  const [again] = await line.claim({}, station.client)
  pass(100_000)
  t.is((await line.move(again?.id ?? '', 'work')).data.previous_claim, null)
  await proven(t, org.owner, line)
})
