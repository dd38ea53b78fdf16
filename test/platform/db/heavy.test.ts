import test from 'ava'
import { asHeavy } from '#shared/platform/db/statements/statement.ts'
import type { Problem } from '#shared/platform/kernel/errors.ts'
import { eventually } from '#test/support/eventually.ts'
import { createOrg } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const shared = shareWorld(test, {}, { pools: [] })

const sleepAndTell = `
  with began as materialized (select clock_timestamp() as at), slept as materialized (select at, pg_sleep($1) from began)
  select extract(epoch from at)::float8 as began, extract(epoch from clock_timestamp())::float8 as ended from slept`
const sleepingFor200Ms = `
  select from pg_stat_activity where query like '%with began%' and clock_timestamp() - query_start > interval '200 ms' and state = 'active'
    and datname = current_database() and pid <> pg_backend_pid()`
const showParallelWorkers = { text: 'show max_parallel_workers_per_gather' }
const renameWorkspace = `update workspaces set name = 'changed' where id = $1`
const readName = 'select name from workspaces where id = $1'

/** A statement that takes so many seconds, and returns when it began and ended. */
const sleep = (seconds: number) =>
  asHeavy<Slept>(
    {
      text: sleepAndTell,
      values: [seconds],
    },
    'q',
  )

interface Slept {
  readonly began: number
  readonly ended: number
}

test('heavy: heavy statements of a workspace run one at a time, beside those of other workspaces', async (t) => {
  const w = await shared()
  const { database } = w.api.services
  const own = database.forWorkspace(w.org.id)
  const running = Array.from({ length: 5 }, () => own.query<Slept>(sleep(0.3)))
  const [other] = await database.forWorkspace(crypto.randomUUID()).query<Slept>(sleep(0.3))
  const slept = (await Promise.all(running)).map(([row]) => row as Slept).sort((a, b) => a.began - b.began)
  for (const [index, { began }] of slept.entries()) t.true(began >= (slept[index - 1]?.ended ?? 0), JSON.stringify(slept))
  t.true((other?.began ?? 0) < (slept[1]?.began ?? 0))
})

test('heavy: a search by text waits 3 s behind a heavy statement of its workspace; other requests do not', async (t) => {
  const w = await shared()
  const other = await createOrg(w, 'Other')
  const place = ({ path }: { path: string }) => `${path}/records/locations`
  const blocking = w.api.services.database
    .forWorkspace(w.org.id)
    .query(sleep(60))
    .catch((error: Problem) => error)
  await eventually(async () => (await w.db.query(sleepingFor200Ms)).rowCount !== 0)
  const late = w.org.owner.withoutRetries().get(`${place(w.org)}?q=x`)
  t.is((await w.org.owner.get(place(w.org))).status, 200)
  t.is((await other.owner.get(`${place(other)}?q=x`)).status, 200)
  const { status, body, headers } = await late
  t.deepEqual([status, body.error.code, headers.get('retry-after')], [503, 'OVERLOADED', '1'])
  const failure = (await blocking) as Problem
  t.deepEqual([failure.code, failure.message.startsWith('q ')], ['VALIDATION_ERROR', true])
  t.is((await w.org.owner.get(`${place(w.org)}?q=x`)).status, 200)
})

test('heavy: a heavy statement of a transaction ends after 5 s and fails the transaction', async (t) => {
  const w = await shared()
  const own = w.api.services.database.forWorkspace(w.org.id)
  const failure = await t.throwsAsync<Problem>(
    own.transaction(async (tx) => {
      await tx.query({ text: renameWorkspace, values: [w.org.id] })
      await tx.query(sleep(60))
    }),
  )
  t.is(failure?.code, 'VALIDATION_ERROR')
  const { rows } = await w.db.query(readName, [w.org.id])
  t.deepEqual(rows, [{ name: 'Acme' }])
})

test('heavy: no statement uses parallel workers', async (t) => {
  const w = await shared()
  t.deepEqual(await w.api.services.database.query(showParallelWorkers), [{ max_parallel_workers_per_gather: '0' }])
})
