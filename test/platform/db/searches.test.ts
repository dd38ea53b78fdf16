import test from 'ava'
import { Database } from '#shared/platform/db/database.ts'
import { isStatementCancelled } from '#shared/platform/db/database-errors.ts'
import { runSearch } from '#shared/platform/db/pool/run-search.ts'
import { limitTransaction } from '#shared/platform/db/statements/limit-transaction.ts'
import { asSearch } from '#shared/platform/db/statements/statement.ts'
import { type Problem, problem } from '#shared/platform/kernel/errors.ts'
import { eventually } from '#test/support/eventually.ts'
import { createMember, createOrg } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const shared = shareWorld(test, {}, { pools: [] })

const sleepAndTell = `
  with began as materialized (select clock_timestamp() as at), slept as materialized (select at, pg_sleep($1) from began)
  select extract(epoch from at)::float8 as began, extract(epoch from clock_timestamp())::float8 as ended from slept`
const findSleeping = `
  select from pg_stat_activity where query like '%with began%' and state = 'active' and datname = current_database() and pid <> pg_backend_pid()`
const showParallelWorkers = { text: 'show max_parallel_workers_per_gather' }
const showTimeLimit = { text: 'show statement_timeout' }
const showProcess = { text: 'select pg_backend_pid() as pid' }
const renameWorkspace = `update workspaces set name = 'changed' where id = $1`
const readName = 'select name from workspaces where id = $1'

/** A search that takes so many seconds, and returns when it began and ended. */
const sleep = (seconds: number) => asSearch<Slept>({ text: sleepAndTell, values: [seconds] }, 'q')

interface Slept {
  readonly began: number
  readonly ended: number
}

/** The most of these that ran at one time. */
const mostAtOnce = (slept: readonly Slept[]): number =>
  Math.max(...slept.map(({ began }) => slept.filter((other) => other.began <= began && began < other.ended).length))

/** Waits until a search sleeps in the database: one, or as many as may run at once. */
const asleep = async (database: Database) => eventually(async () => (await database.query({ text: findSleeping })).length > 0)

test('searches: a workspace that is alone runs as many at once as the database has processors', async (t) => {
  const w = await shared()
  const { database } = w.api.services
  const own = database.forWorkspace(crypto.randomUUID())
  await eventually(async () => mostAtOnce((await Promise.all([own.query(sleep(0.5)), own.query(sleep(0.5))])).flat()) === 2)
  const slept = await Promise.all(Array.from({ length: 6 }, () => own.query(sleep(0.1))))
  t.true(mostAtOnce(slept.flat()) <= 2, JSON.stringify(slept))
})

test('searches: while another workspace uses the database they run one at a time, in their order', async (t) => {
  const w = await shared()
  const { database } = w.api.services
  const other = database.forWorkspace(crypto.randomUUID()).query(sleep(4))
  await asleep(database)
  const own = database.forWorkspace(w.org.id)
  const running = Array.from({ length: 4 }, () => own.query(sleep(0.2)))
  const slept = (await Promise.all(running)).flat()
  t.is(mostAtOnce(slept), 1, JSON.stringify(slept))
  t.deepEqual(
    slept,
    slept.toSorted((one, another) => one.began - another.began),
  )
  await other
})

test('searches: one that waits 3 s for a slot is refused; other requests do not wait', async (t) => {
  const w = await shared()
  const other = await createOrg(w, 'Other')
  const place = ({ path }: { path: string }) => `${path}/records/locations`
  const { database } = w.api.services
  const own = { 'resource.name': { eq: 'Own' } }
  const limited = await createMember(w, w.org, [{ effect: 'allow', actions: ['records:read'], resources: ['locations'], condition: own }])
  // The slots are taken for 5 s; on a slow machine the calls may come too late to wait 3 s for one, so it is tried again.
  await eventually(async () => {
    const blocking = [1, 2].map(() =>
      database
        // The share of its workspaces is its owner's.
        .forWorkspace(w.org.id, w.org.ownerId)
        .query(sleep(60))
        .catch((error: Problem) => error),
    )
    await asleep(database)
    const late = [
      w.org.owner.withoutRetries().get(`${place(w.org)}?q=x`),
      w.org.owner.withoutRetries().get(`${place(w.org)}?filter=[{"field":"name","op":"eq","value":"x"}]`),
      // A plain list is a search where rules limit it.
      limited.client.withoutRetries().get(place(w.org)),
    ]
    t.is((await w.org.owner.get(place(w.org))).status, 200)
    t.is((await other.owner.get(`${place(other)}?q=x`)).status, 200)
    const answers = await Promise.all(late)
    await Promise.all(blocking)
    return answers.every(
      ({ status, body, headers }) => status === 503 && body.error.code === 'OVERLOADED' && headers.get('retry-after') === '1',
    )
  })
  t.is((await w.org.owner.get(`${place(w.org)}?q=x`)).status, 200)
})

test('searches: one that runs longer than 5 s ends in the database, and its connection goes on', async (t) => {
  const { config } = await shared()
  const database = new Database(config.databaseUrl, { connections: 1, name: 'searches', statementTimeoutMs: 60_000 })
  t.teardown(() => database.close())
  const own = database.forWorkspace(crypto.randomUUID())
  const before = await own.query(showProcess)
  const failure = await t.throwsAsync<Problem>(own.query(sleep(60)))
  t.true(['VALIDATION_ERROR', 'OVERLOADED'].includes(failure?.code ?? ''))
  t.deepEqual(await own.query(showProcess), before)
})

test('searches: one in a transaction that is ended fails the transaction', async (t) => {
  const w = await shared()
  const own = w.api.services.database.forWorkspace(w.org.id)
  const failure = await t.throwsAsync<Problem>(
    own.transaction(async (tx) => {
      await tx.query({ text: renameWorkspace, values: [w.org.id] })
      await tx.query(sleep(60))
    }),
  )
  t.true(['VALIDATION_ERROR', 'OVERLOADED'].includes(failure?.code ?? ''))
  const { rows } = await w.db.query(readName, [w.org.id])
  t.deepEqual(rows, [{ name: 'Acme' }])
})

test('searches: the statements after one have the time limit of the process again', async (t) => {
  const w = await shared()
  const own = w.api.services.database.forWorkspace(w.org.id)
  const [usual] = await own.query(showTimeLimit)
  t.deepEqual(await own.query(asSearch(showTimeLimit, 'q')), [{ statement_timeout: '5s' }])
  await own.transaction(async (tx) => {
    t.deepEqual(await tx.query(asSearch(showTimeLimit, 'q')), [{ statement_timeout: '5s' }])
    t.deepEqual(await tx.query(showTimeLimit), [usual])
  })
  t.deepEqual(await own.query(showTimeLimit), [usual])
})

test('searches: in a transaction with a limit of its own the shorter limit holds, and afterwards that of the transaction', async (t) => {
  const w = await shared()
  const own = w.api.services.database.forWorkspace(w.org.id)
  for (const [statementMs, ofSearch, ofOthers] of [
    [3_000, '3s', '3s'],
    [7_000, '5s', '7s'],
  ] as const) {
    await own.transaction(async (tx) => {
      await tx.query(limitTransaction({ lockMs: 100, statementMs }))
      t.deepEqual(await tx.query(asSearch(showTimeLimit, 'q')), [{ statement_timeout: ofSearch }])
      t.deepEqual(await tx.query(showTimeLimit), [{ statement_timeout: ofOthers }])
    })
  }
  const limited = own.transaction(async (tx) => {
    await tx.query(limitTransaction({ lockMs: 100, statementMs: 200 }))
    await tx.query(sleep(60))
  })
  t.true(isStatementCancelled(await t.throwsAsync(limited)))
})

test('searches: what took too long is named, or the roles, unless work of the process had to wait', async (t) => {
  const logged: unknown[] = []
  const log = { warn: (entry: unknown) => logged.push(entry) } as never
  const fail = (named: string | null, hadWaits: boolean) =>
    t.throwsAsync<Problem>(
      runSearch({ named, roles: ['role'] }, { hadSince: () => hadWaits }, log, () => Promise.reject({ code: '57014' })),
    )
  const byFilter = await fail('filter', false)
  t.is(byFilter?.code, 'VALIDATION_ERROR')
  t.regex(byFilter?.message ?? '', /^filter asks for more than the database finds in 5 s/)
  const byRules = await fail(null, false)
  t.is(byRules?.code, 'VALIDATION_ERROR')
  t.regex(byRules?.message ?? '', /^The conditions of your roles/)
  t.deepEqual(logged, [{ roles: ['role'] }, { roles: ['role'] }])
  t.is((await fail('filter', true))?.code, 'OVERLOADED')
  const other = problem('NOT_FOUND')
  t.is(await t.throwsAsync(runSearch({ named: 'q', roles: [] }, { hadSince: () => false }, log, () => Promise.reject(other))), other)
})

test('searches: no statement uses parallel workers', async (t) => {
  const w = await shared()
  t.deepEqual(await w.api.services.database.query(showParallelWorkers), [{ max_parallel_workers_per_gather: '0' }])
})
