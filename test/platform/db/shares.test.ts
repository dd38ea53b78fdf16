import test, { type ExecutionContext } from 'ava'
import { schemaOf } from '#shared/core/types/tables/table-names.ts'
import { ConnectionShares } from '#shared/platform/db/pool/connection-shares.ts'
import { workOwner } from '#shared/platform/kernel/process/work-owner.ts'
import { eventually } from '#test/support/eventually.ts'
import { createOrg, createPerson, type Org } from '#test/support/factories.ts'
import { type HeldLock, lockRow } from '#test/support/locks.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { countLockWaits } from '#test/support/waiting.ts'
import type { World } from '#test/support/world.ts'

/** Takes a connection, returns whether it was free at once, and records its admission. */
function take(shares: ConnectionShares, owner: string | null, admitted: string[] = []): boolean {
  const turn = shares.acquire(owner)
  void turn?.then(
    () => admitted.push(String(owner)),
    () => undefined,
  )
  return turn === undefined
}

test('shares: a single workspace leaves the last quarter of the connections to others', (t) => {
  const shares = new ConnectionShares(16, () => undefined)
  const taken = Array.from({ length: 16 }, () => take(shares, 'a'))
  t.is(taken.filter(Boolean).length, 12)
  t.is(shares.waiting, 4)
  for (const other of ['b', 'c', 'd']) t.true(take(shares, other), other)
  t.true(take(shares, null))
  t.false(take(shares, 'e'))
})

test('shares: free connections go to workspaces below a quarter in turn, and in order within each', async (t) => {
  const shares = new ConnectionShares(16, () => undefined)
  for (let held = 0; held < 12; held++) take(shares, 'a')
  for (let held = 0; held < 4; held++) take(shares, 'b')
  const admitted: string[] = []
  for (const owner of ['a', 'a', 'b', 'c', 'c', 'd']) t.false(take(shares, owner, admitted))
  for (let freed = 0; freed < 3; freed++) shares.release('a')
  await Promise.resolve()
  t.deepEqual(admitted, ['c', 'd', 'c'])
  // No connection is given to a workspace with a quarter before the reserve is free again.
  for (let freed = 0; freed < 4; freed++) shares.release('a')
  await Promise.resolve()
  t.deepEqual(admitted, ['c', 'd', 'c'])
  shares.release('b')
  await Promise.resolve()
  t.deepEqual(admitted, ['c', 'd', 'c', 'b'])
})

test('shares: the workspaces of one owner leave the last quarter to others, together', (t) => {
  const shares = new ConnectionShares(16, () => undefined)
  const ofOwner = ['a', 'b', 'c'].map((workspace) => workOwner(workspace, 'owner'))
  const taken = Array.from({ length: 18 }, (_, index) => take(shares, ofOwner[index % 3] ?? null))
  t.is(taken.filter(Boolean).length, 12)
  for (const other of ['d', 'e', 'f']) t.true(take(shares, other), other)
})

test('shares: while others wait, the workspaces of one owner get a quarter together, in turn with others', async (t) => {
  const shares = new ConnectionShares(16, () => undefined)
  const [a, b, c] = ['a', 'b', 'c'].map((workspace) => workOwner(workspace, 'owner')) as [string, string, string]
  for (let held = 0; held < 16; held++) take(shares, null)
  const admitted: string[] = []
  for (const owner of [a, a, b, b, c, c, 'x', 'x', 'y']) t.false(take(shares, owner, admitted))
  for (let freed = 0; freed < 7; freed++) shares.release(null)
  await Promise.resolve()
  t.deepEqual(admitted, [a, 'x', 'y', b, 'x', c, a])
  shares.release(null)
  await Promise.resolve()
  t.is(admitted.length, 7, 'the owner has a quarter, and less than a quarter is free')
  shares.release(a)
  await Promise.resolve()
  t.deepEqual(admitted.slice(7), [b])
})

test('shares: one workspace can use a pool of two', (t) => {
  const shares = new ConnectionShares(2, () => undefined)
  t.deepEqual(
    [1, 2, 3].map(() => take(shares, 'a')),
    [true, true, false],
  )
})

const shared = shareWorld(test)

const jobsToRetry = `select from pgboss.job where state = 'retry'`

/** A record whose row is locked until `release`. */
async function heldRecord(
  t: ExecutionContext,
  w: World,
  { owner, path, id }: Org,
): Promise<{ readonly record: string; readonly lock: HeldLock }> {
  await owner.post(`${path}/types`, { key: 'parts', label: 'Parts' })
  await owner.post(`${path}/fields`, { entity_type: 'parts', key: 'note', label: 'Note', type: 'string' })
  const { data } = await owner.post(`${path}/records/parts`, { values: { note: 'x' } })
  return { record: data.id, lock: await lockRow(t, w.db, `${schemaOf(id)}.parts`, data.id) }
}

test('shares: changes that wait for a record are OVERLOADED after 3 s, and another workspace is served meanwhile', async (t) => {
  const w = await shared()
  const other = await createOrg(w, 'Other')
  const { record, lock } = await heldRecord(t, w, w.org)
  const place = `${w.org.path}/records/parts/${record}/values`
  const servesOther = async (key: string): Promise<boolean> => {
    const answers = Array.from({ length: 30 }, () => w.org.owner.withoutRetries().put(place, { values: { note: 'y' } }))
    let isAnswered = false
    void Promise.race(answers).then(() => {
      isAnswered = true
    })
    // Two of the 8 connections are left to others.
    await eventually(async () => isAnswered || (await countLockWaits(w.db)) === 6)
    t.is((await other.owner.post(`${other.path}/types`, { key, label: 'Own' })).status, 201)
    t.is((await other.owner.get(`${other.path}/types`)).status, 200)
    const isServed = !isAnswered
    for (const { status, body, headers } of await Promise.all(answers)) {
      t.deepEqual([status, body.error.code, headers.get('retry-after')], [503, 'OVERLOADED', '1'])
    }
    return isServed
  }
  // A busy machine may need more than the 3 s for the other workspace's calls.
  let isServed = false
  for (let attempt = 1; !isServed && attempt <= 5; attempt++) isServed = await servesOther(`own_${attempt}`)
  t.true(isServed, 'the other workspace is served before the waits end')
  await lock.release()
  t.is((await w.org.owner.put(place, { values: { note: 'z' } })).status, 204)
})

test('shares: a job that is OVERLOADED is retried without effect on its caller', async (t) => {
  const w = await shared()
  const { record, lock } = await heldRecord(t, w, w.org)
  const operations = [{ op: 'update', id: record, values: { note: 'y' } }]
  const answer = w.org.owner.post(`${w.org.path}/records/parts/batch`, { operations, atomic: true })
  await eventually(async () => (await w.db.query(jobsToRetry)).rowCount !== 0)
  await lock.release()
  const { status, data } = await answer
  t.is(status, 200)
  t.is(data.results[0].status, 200)
})

test('shares: three workspaces of one owner that wait for records leave connections to another owner', async (t) => {
  const w = await shared()
  const owner = await createPerson(w, 'Anna')
  const orgs = await Promise.all(['A', 'B', 'C'].map((name) => createOrg(w, name, 'paid', owner)))
  const held = []
  for (const org of orgs) held.push({ org, ...(await heldRecord(t, w, org)) })
  const answers = held.flatMap(({ org, record }) =>
    Array.from({ length: 10 }, () =>
      org.owner.withoutRetries().put(`${org.path}/records/parts/${record}/values`, { values: { note: 'y' } }),
    ),
  )
  // As of one workspace, two of the 8 connections are left to others.
  await eventually(async () => (await countLockWaits(w.db)) === 6)
  t.is((await w.org.owner.post(`${w.org.path}/types`, { key: 'own', label: 'Own' })).status, 201)
  for (const { status } of await Promise.all(answers)) t.is(status, 503)
  for (const { lock } of held) await lock.release()
})
