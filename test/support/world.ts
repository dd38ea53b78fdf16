import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import { type Api, startApi } from '#api/server.ts'
import { jobs } from '#shared/features.ts'
import { runMaintenanceJob } from '#shared/platform/due/maintenance.ts'
import { typeSource } from '#shared/platform/events/event-delivery.ts'
import { type WorkerPool, workerPools } from '#shared/platform/jobs/job.ts'
import { type Config, readConfig } from '#shared/platform/kernel/config.ts'
import { createLogger } from '#shared/platform/kernel/log.ts'
import { Client } from '#test/support/client.ts'
import { eventually, longestWaitMs } from '#test/support/eventually.ts'
import { createOrg, type Org } from '#test/support/factories.ts'
import { openPool } from '#test/support/pool.ts'
import { cloneTemplate, dropDatabase } from '#test/support/template.ts'
import { takeContradictions } from '#test/support/watch/rows.ts'
import { statementsWithoutWorkspace } from '#test/support/watch/watch.ts'
import { startWorker, type Worker } from '#workers/worker.ts'

/** A complete Kontor for a test: a database cloned from a migrated template, the API on a free port and the pools in this process. */
export interface World {
  readonly config: Config
  readonly api: Api
  readonly worker: Worker
  /** Connections of the test, for reading and for causing faults. */
  readonly db: pg.Pool
  /** A workspace with its owner, ready to use. */
  readonly org: Org
  /** A client without credentials. */
  readonly visitor: Client
  /** Waits until no work is due by the world's time, no job waits or runs and every signal was received. */
  readonly drain: () => Promise<void>
  /** Stops everything; fails when an open operation or a due job is left, or a statement reads past its workspace. */
  readonly close: () => Promise<void>
}

/** Creates a world, with chosen pools in this process and its own time if they are given; close it in the test's teardown. */
export async function world(
  environment: Readonly<Record<string, string>> = {},
  chosen: readonly WorkerPool[] = workerPools,
  now?: () => Date,
): Promise<World> {
  const database = await cloneTemplate(`world_${randomUUID().slice(0, 8)}`)
  const dataDir = await mkdtemp(join(tmpdir(), 'kontor-test-'))
  const config = readConfig({
    DATABASE_URL: database.url,
    DATA_DIR: dataDir,
    SECRET_KEY: randomBytes(32).toString('hex'),
    PORT: '0',
    LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'error',
    DATABASE_CONNECTIONS: '10',
    ...environment,
  })
  const log = createLogger('test', config.logLevel)
  const worker = await startWorker(config, chosen, log, now)
  const api = await startApi(config, log, now)
  // Tests of one world hold several connections at once: some keep locks, and others read.
  const db = openPool({ connectionString: config.databaseUrl, max: 12 })
  const visitor = new Client(`http://127.0.0.1:${api.port}`, null)
  const org = await createOrg({ api, visitor })
  const drainExcept = (pools: readonly WorkerPool[]) => drained(worker, db, pools, now ?? clockOf(api), chosen)
  const drain = () => drainExcept([])
  const close = async () => {
    // Processes of other pools have ended with their tests. One that was killed after its last answer leaves the job of that answer.
    await drainExcept(workerPools.filter((pool) => !chosen.includes(pool)))
    const reaching = await statementsWithoutWorkspace(db)
    await api.stop(1_000)
    await worker.stop(1_000)
    await db.end()
    await dropDatabase(database.name)
    await rm(dataDir, { recursive: true, force: true })
    if (reaching.length > 0) throw new Error(`Statements reach past their workspace:\n${reaching.join('\n')}`)
    const contradictions = takeContradictions()
    if (contradictions.length > 0) throw new Error(`Rows contradict the columns of their statements:\n${contradictions.join('\n')}`)
  }
  return { config, api, worker, db, org, visitor, drain, close }
}

/** An operation without a job that is open this long is lost; another test of the world may just have begun one. */
const openTooLongMs = 20_000

/** The time of a world's processes when the test gives them none. */
const clockOf =
  ({ services }: Api) =>
  () =>
    services.now()

/** Workers notice waiting jobs by themselves, so they are woken only this often: constant polling would cost more than the work. */
const wakeEveryMs = 50

/** Condition of an event of the inbox that a listener hears. Others wait for nobody, and no pool may number them. */
const isDelivered = `(listeners <> '{}' or exists (
  select from event_listeners as listener
  where listener.workspace_id = inbox.workspace_id and listener.since < inbox.id and (
    listeners is null and listener.object_type in (inbox.topic, '') and listener.source = coalesce(inbox.source, 'records')
      and listener.event = coalesce(inbox.event, substr(inbox.type, 9))
    or listener.source = '${typeSource}' and (listener.event = inbox.type or starts_with(inbox.type, rtrim(listener.event, '*')))
  )
))`

/**
 * Waits for due work and for jobs, except those of the `absent` pools. A world whose own workers are stopped does not wait for maintenance tasks, which a
 * second worker may have enqueued at its end.
 */
async function drained(
  worker: Worker,
  db: pg.Pool,
  absent: readonly WorkerPool[],
  time: () => Date,
  chosen: readonly WorkerPool[],
): Promise<void> {
  const now = chosen.includes('schedule') ? time : undefined
  const ignored = ['dead-letters', ...jobs.filter(({ pool }) => absent.includes(pool)).map(({ name }) => name)]
  const deadline = Date.now() + openTooLongMs
  let wokenAt = Number.NEGATIVE_INFINITY
  let quiet = 0
  const isQuiet = async () => {
    const { rows } = await db.query<{ left: boolean; waits: boolean }>({
      name: 'drained',
      text: `select count(*) > 0 as left, coalesce(bool_or(waits), false) as waits from (
         select state <> 'active' as waits from pgboss.job
           where name <> all($4) and state in ('created', 'retry', 'active') and start_after <= now() and not ($2 and name = $3)
         union all select true from gated_jobs where slot is null and queue <> all($4)
         union all select true from event_inbox as inbox where ${isDelivered}
         union all select true from waiting_deliveries where workspace_id not in (select id from workspaces where status = 'suspended')
         union all select true from due_work where not held and at <= $1::timestamptz
         union all select true from event_inbox as inbox where $7 and not $2 and not $5
           and exists (select from webhooks where webhooks.workspace_id = inbox.workspace_id and status <> 'disabled')
         union all select true from webhooks as webhook join feed_heads using (workspace_id)
           where not $2 and not $5 and webhook.status <> 'disabled' and (select status = 'active' from workspaces where id = workspace_id)
             and (seen_seq < last_seq or next_attempt_at <= $6 or run_id is not null)
       ) as work`,
      values: [
        ...[worker.pools.isStopped ? null : (now?.() ?? null), worker.pools.isStopped, runMaintenanceJob.name, ignored],
        ...[!chosen.includes('webhooks'), time(), chosen.includes('flows')],
      ],
    })
    const { left = false, waits = false } = rows[0] ?? {}
    const open = !left && worker.pools.idle ? await openOperations(db) : ''
    if (open && Date.now() > deadline) throw new Error(`Operations are left open: ${open}`)
    if (!left && worker.pools.idle && !open) quiet += 1
    else quiet = 0
    if (waits && performance.now() - wokenAt >= wakeEveryMs) {
      wokenAt = performance.now()
      worker.pools.pollAll()
    }
    return quiet === 2
  }
  // Work that takes longer, on a busy machine too, is lost: its worker is gone or no pool takes it.
  await eventually(isQuiet, longestWaitMs, async () => `Work is left: ${await workLeft(db)}`)
}

async function openOperations(db: pg.Pool): Promise<string> {
  const { rows } = await db.query(
    `select kind from operations where status in ('queued', 'running') and coalesce(job_id, id) not in (select id from deferred_jobs)`,
  )
  return rows.map(({ kind }) => kind).join(', ')
}

async function workLeft(db: pg.Pool): Promise<string> {
  const { rows } = await db.query<{ left: string }>(
    `select count(*) || ' ' || what as left from (
       select name || ' ' || state as what from pgboss.job where state in ('created', 'retry', 'active')
       union all select queue || ' at its gate' from gated_jobs where slot is null
       union all select 'events without a number' from event_inbox as inbox where ${isDelivered}
       union all select 'events to dispatch to ' || subscriber from waiting_deliveries, jsonb_object_keys(listeners) as subscriber
       union all select 'due ' || kind from due_work where not held
     ) as work group by what order by what`,
  )
  return rows.map(({ left }) => left).join(', ')
}
