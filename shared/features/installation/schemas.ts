import { maxRecent } from '#shared/features/webhooks/metrics-store.ts'
import { instant, nullable, schema, type TypeOf, t, uuid } from '#shared/platform/kernel/schema.ts'

const count = t.Integer({ minimum: 0 })
const seconds = t.Number({ minimum: 0 })

/** The state of the installation at a glance. */
export const overview = schema(
  t.Object(
    {
      jobs: t.Object({ waiting: count, held: count, running: count, failed: count }, { title: 'JobCounts' }),
      oldest_seconds: t.Integer({ description: 'For how long the first waiting job of all kinds has been waiting.' }),
      finished_by_minute: t.Array(count, { description: 'Jobs that ended in each of the last 60 whole minutes, the newest last.' }),
      processes: t.Object(
        { api: count, worker: count, dead: t.Integer({ description: 'Processes that died within the last day.' }) },
        { title: 'ProcessCounts' },
      ),
      database: t.Object(
        {
          connections: count,
          max_connections: count,
          size_bytes: t.Integer({ description: 'As of the last vacuum of each table.' }),
          slow_statements: t.Integer({ description: 'Statements that have been running for more than 2 s.' }),
        },
        { title: 'DatabaseLoad' },
      ),
      store: t.Object(
        { kind: t.String(), fault: nullable(t.String({ description: 'Null while the file store answers.' })) },
        { title: 'StoreState' },
      ),
      feed: t.Object(
        {
          waiting: t.Integer({ minimum: 0, description: 'Events of all workspaces without a number, up to 10,000.' }),
          lag_ms: t.Integer({ minimum: 0, description: 'The age of the oldest one; 0 when there is none.' }),
        },
        { title: 'FeedLag', description: 'How far the numbering of events is behind.' },
      ),
      streams: t.Integer({ minimum: 0, description: 'Open streams of events, of all workspaces and processes.' }),
      webhooks: t.Object(
        {
          active: count,
          failing: count,
          disabled: count,
          oldest_seconds: t.Integer({
            minimum: 0,
            description: 'For how long the first try that has not begun has been due; 0 when none is.',
          }),
          waiting: count,
          delivered: count,
          failed: count,
        },
        { title: 'WebhookCounts', description: `waiting, delivered and failed are of the last hour's newest ${maxRecent} deliveries.` },
      ),
      mail: t.Object({ waiting: count, oldest: nullable(instant), uncertain: count, failed_day: count }, { title: 'MailBacklog' }),
    },
    { title: 'Overview' },
  ),
)
export type Overview = TypeOf<typeof overview>

const workspaceLoad = t.Object(
  {
    id: uuid,
    name: t.String(),
    status: t.Enum(['provisioning', 'active', 'suspended', 'deleting']),
    plan: t.Enum(['free', 'paid']),
    owner: t.String({ description: "The owner's address." }),
    calls: count,
    computing_seconds: seconds,
    database_seconds: seconds,
    jobs: count,
    job_seconds: seconds,
    job_share: t.Number({ minimum: 0, maximum: 1, description: 'Its part of the time of all jobs; 0 when none ran.' }),
    waiting: count,
    rows: count,
    row_bytes: t.Integer({ description: 'With indexes, as of the last vacuum of each table.' }),
    file_bytes: count,
    mails_day: count,
  },
  { title: 'WorkspaceLoad' },
)

/** What each workspace holds, what waits for it, and what was done for it in the last day. */
export const workspaceLoads = schema(t.Object({ workspaces: t.Array(workspaceLoad) }))
export type WorkspaceLoad = TypeOf<typeof workspaceLoads>['workspaces'][number]

const runningJob = t.Object(
  { kind: t.String(), id: uuid, workspace: nullable(t.String({ format: 'uuid' })), since: instant },
  { title: 'RunningJob' },
)

const processState = t.Object(
  {
    id: uuid,
    kind: t.Enum(['api', 'worker']),
    pools: t.Array(t.String()),
    host: t.String(),
    pid: t.Integer(),
    release: t.String(),
    started_at: instant,
    heartbeat_at: instant,
    dead: t.Boolean({ description: 'No heartbeat for 30 s.' }),
    clock_ahead_ms: t.Integer({ description: "By how much its clock is ahead of the database's." }),
    memory_bytes: t.Integer(),
    slots: t.Integer({ description: 'How many jobs it runs at most, all kinds together.' }),
    running: t.Array(runningJob),
  },
  { title: 'ProcessState' },
)

/** The processes that live, and those that died within the last day. */
export const processStates = schema(t.Object({ processes: t.Array(processState) }))
export type ProcessState = TypeOf<typeof processStates>['processes'][number]

const schedule = t.Object(
  {
    kind: t.String({ description: '`flows.schedule` or `maintenance`.' }),
    subject: t.String({ description: "The flow's id, or the name of the maintenance task." }),
    workspace: nullable(t.Object({ id: uuid, name: nullable(t.String()) }, { title: 'ScheduleWorkspace' })),
    next: instant,
    held: t.Boolean({ description: 'It waits for its workspace or app.' }),
    last: nullable(
      t.Object(
        {
          at: instant,
          ms: nullable(t.Integer({ description: 'Null while it runs.' })),
          status: t.String({ description: '`ok`, `failed`, or the status of a run.' }),
          error: nullable(t.String({ description: 'Of a run its code.' })),
        },
        { title: 'LastRun' },
      ),
    ),
  },
  { title: 'Schedule' },
)

/** Work that recurs, and how much work of each kind waits for a time. */
export const schedules = schema(
  t.Object(
    {
      schedules: t.Array(schedule),
      waiting: t.Array(t.Object({ kind: t.String(), count, next: nullable(instant) }, { title: 'WaitingTimes' })),
    },
    { title: 'Schedules' },
  ),
)
export type Schedules = TypeOf<typeof schedules>
