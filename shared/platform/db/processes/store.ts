import type { Executor } from '#shared/platform/db/database.ts'
import { bigint, boolean, instant, integer, jsonb, type RowOf, text, texts, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

/** A job that a process runs. */
export interface RunningJob {
  readonly job: string
  readonly id: string
  readonly workspace_id: string | null
  /** When its attempt began, by the process's clock. */
  readonly since: string
}

const columns = {
  id: uuid.notNull,
  kind: text.as<'api' | 'worker'>().notNull,
  pools: texts.notNull,
  host: text.notNull,
  pid: integer.notNull,
  /** The release that it runs, as KONTOR_RELEASE names it. */
  release: text.notNull,
  started_at: instant.notNull,
  heartbeat_at: instant.notNull,
  /** By how much its clock is ahead of the database's, in milliseconds; half the way of its heartbeat is in it. */
  skew_ms: integer.notNull,
  memory_bytes: bigint.notNull,
  running: jsonb.as<readonly RunningJob[]>().notNull,
  /** Whether its heartbeat is late, so that it counts as dead. */
  dead: boolean.notNull,
}

/** A process of the installation, as it was at its last heartbeat. */
export type Process = RowOf<typeof columns>

/** A process whose last heartbeat is older counts as dead. */
const deadAfter = `interval '30 seconds'`

const upsertProcess = statement(
  'db.upsertProcess',
  `insert into processes (id, kind, pools, host, pid, release, started_at, heartbeat_at, skew_ms, memory_bytes, running)
   values ($id, $kind, $pools, $host, $pid, $release, clock_timestamp(), clock_timestamp(),
     (extract(epoch from $now::timestamptz - clock_timestamp()) * 1000)::integer, $memoryBytes, $running::jsonb)
   on conflict (id) do update
   set heartbeat_at = excluded.heartbeat_at, skew_ms = excluded.skew_ms, memory_bytes = excluded.memory_bytes, running = excluded.running`,
  {
    params: {
      id: uuid,
      kind: text,
      pools: texts,
      host: text,
      pid: integer,
      release: text,
      now: instant,
      memoryBytes: bigint,
      running: jsonb,
    },
  },
)
/** Stores a heartbeat. `now` is the time of the process's own clock. */
export async function storeHeartbeat(
  db: Executor,
  process: Pick<Process, 'id' | 'kind' | 'pools' | 'host' | 'pid' | 'release' | 'running'>,
  { now, memoryBytes }: { readonly now: Date; readonly memoryBytes: number },
): Promise<void> {
  const { id, kind, pools, host, pid, release, running } = process
  await db.query(upsertProcess({ id, kind, pools, host, pid, release, now, memoryBytes, running: JSON.stringify(running) }))
}

/** Removes a process that stops. */
export const removeProcess = statement('db.removeProcess', 'delete from processes where id = $id', { params: { id: uuid } })

/** Lists the live processes, and then those that died within the last day. */
export const listProcesses = statement(
  'db.listProcesses',
  `select id, kind, pools, host, pid, release, started_at, heartbeat_at, skew_ms, memory_bytes, running, heartbeat_at < now() - ${deadAfter} as dead
   from processes order by dead, kind, pools, started_at, id`,
  { params: {}, columns },
)

const selectReporter = statement(
  'db.selectReporter',
  `select id from processes where $pool = any(pools) and heartbeat_at >= now() - ${deadAfter} order by id limit 1`,
  { params: { pool: text }, columns: { id: uuid.notNull } },
)
/**
 * Whether this process is the one of its pool that reports counts of the whole installation: the first of the live ones. When it dies,
 * another does after 30 s.
 */
export async function isReporter(db: Executor, id: string, pool: string): Promise<boolean> {
  return (await db.query(selectReporter({ pool })))[0]?.id === id
}

const connectionColumns = { name: text.notNull, count: integer.notNull }

const selectConnections = statement(
  'db.selectConnections',
  `select coalesce(nullif(application_name, ''), 'without a name') as name, count(*)::integer as count
   from pg_stat_activity where backend_type = 'client backend' group by 1 order by count desc, name`,
  { params: {}, columns: connectionColumns },
)
const selectConnectionLimit = statement(
  'db.selectConnectionLimit',
  `select current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer as limit`,
  { params: {}, columns: { limit: integer.notNull } },
)
/** The open connections of the database server by application name, and the most that it takes from roles that are no superusers. */
export async function countConnections(db: Executor): Promise<{ byName: RowOf<typeof connectionColumns>[]; limit: number }> {
  const [byName, [row]] = [await db.query(selectConnections()), await db.query(selectConnectionLimit())]
  return { byName, limit: row?.limit ?? 0 }
}
