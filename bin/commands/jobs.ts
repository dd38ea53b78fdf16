import { operateJob, prepareJobs } from '#shared/core/operators/act-on-jobs.ts'
import { jobs } from '#shared/features.ts'
import type { JobAction } from '#shared/platform/jobs/operator/act.ts'
import { type JobFilter, jobSorts, jobStates, readFilterTime } from '#shared/platform/jobs/operator/filter.ts'
import { findJob, findJobs } from '#shared/platform/jobs/operator/find-jobs.ts'
import type { JobDetail, JobView } from '#shared/platform/jobs/operator/schemas.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { schema, type TypeOf, t } from '#shared/platform/kernel/schema.ts'
import { apiCommand, type Command, type CommandResult, command } from '../command.ts'
import type { CommandScope } from '../command-scope.ts'
import { formatTable } from '../table.ts'
import { workspaceScope } from '../workspaces.ts'

/** The most jobs that an action changes without `--yes`. */
const maxUnconfirmed = 10

/** Options that choose jobs: those of the list of operators. */
const selection = {
  kind: t.Optional(t.String({ description: 'name of the job, such as records.import; kontor jobs lists them' })),
  state: t.Optional(t.Enum(jobStates, { description: jobStates.join(', ') })),
  workspace: t.Optional(t.String({ description: 'id or name of the workspace' })),
  principal: t.Optional(t.String({ format: 'uuid', description: 'id of the person or service account that caused the job' })),
  request_id: t.Optional(t.String({ minLength: 1, description: 'id of the request that caused the job' })),
  error: t.Optional(t.String({ minLength: 3, description: 'a part of the code or message of the failure, 3 letters or more' })),
  from: t.Optional(t.String({ description: 'filed since: an instant (2026-01-31T12:00:00Z), or how long ago: 30m, 2h, 7d' })),
  to: t.Optional(t.String({ description: 'filed before: an instant, or how long ago' })),
}
const selectionOptions = schema(t.Object(selection))
type Selection = TypeOf<typeof selectionOptions>

async function readFilter(platform: CommandScope, { workspace, from, to, ...others }: Selection): Promise<JobFilter> {
  const now = platform.now()
  return {
    ...others,
    ...(workspace !== undefined && { workspace: (await workspaceScope(platform, workspace)).workspace.id }),
    ...(from !== undefined && { from: readFilterTime(from, now) }),
    ...(to !== undefined && { to: readFilterTime(to, now) }),
  }
}

const outcomeOf = ({ why, error }: JobView): string => why ?? (error ? `${error.code}: ${error.message}` : '')

const cells = (job: JobView) => [job.id, job.kind, job.state, job.workspace ?? '(no workspace)', job.created_at, outcomeOf(job)]

function detailLines(job: JobDetail): string[] {
  const { payload, attempts, caused_by, caused, ...view } = job
  const related = caused_by ? [caused_by] : []
  return [
    ...formatTable(
      Object.entries(view).map(([name, value]) => [
        name.replaceAll('_', ' '),
        typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? ''),
      ]),
    ),
    ...(payload === null
      ? ['payload is no longer kept']
      : ['', 'Payload:', ...formatTable(Object.entries(payload).map(([key, value]) => [key, JSON.stringify(value)]))]),
    ...table(
      'Attempts:',
      attempts.map(({ worker, started_at, ended_at, error }) => [worker, started_at, ended_at, error]),
    ),
    ...table(
      'Caused by:',
      related.map(({ id, kind, state }) => [id, kind, state]),
    ),
    ...table(
      'Caused:',
      caused.map(({ id, kind, state }) => [id, kind, state]),
    ),
  ]
}

const table = (title: string, rows: readonly (readonly (string | null)[])[]): string[] =>
  rows.length === 0 ? [] : ['', title, ...formatTable(rows)]

const actOptions = schema(
  t.Object({
    id: t.Optional(t.String({ description: 'id of the job, as jobs list shows it' })),
    all: t.Optional(t.Boolean({ description: 'all jobs whose state fits' })),
    ...selection,
    yes: t.Optional(t.Boolean({ description: `also when more than ${maxUnconfirmed} jobs match` })),
  }),
)
const retryOptions = schema(
  t.Object({
    id: t.Optional(t.String({ description: 'id of the job, as jobs list shows it' })),
    all: t.Optional(t.Boolean({ description: 'all failed jobs' })),
    ...selection,
    also_answered: t.Optional(
      t.Boolean({
        description: 'also those whose caller was told of the failure: a caller that has repeated its call gets the effect twice',
      }),
    ),
    yes: t.Optional(t.Boolean({ description: `also when more than ${maxUnconfirmed} jobs match` })),
  }),
)

/** What an action did, in a sentence. */
const past: Readonly<Record<JobAction, string>> = { retry: 'Retried', cancel: 'Cancelled', discard: 'Discarded' }

/** Acts on one job by its id, or on all that match. */
async function act(platform: CommandScope, action: JobAction, given: TypeOf<typeof retryOptions>): Promise<CommandResult> {
  const { id, all = false, also_answered: alsoAnswered = false, yes = false, ...selected } = given
  const isNarrowed = Object.values(selected).some((value) => value !== undefined)
  if ([id !== undefined, all, isNarrowed].filter((isGiven) => isGiven).length !== 1)
    throw problem('VALIDATION_ERROR', 'Name one job by its id, or give --all, or some of the options that choose jobs')
  if (id !== undefined) {
    await operateJob(platform, jobs, action, id, { alsoAnswered })
    return { data: { done: 1, skipped: 0, skipped_answered: 0 }, lines: [`${past[action]}: ${id}`] }
  }
  const prepared = await prepareJobs(platform, jobs, action, await readFilter(platform, selected), { alsoAnswered })
  const { matches } = prepared
  if (matches > maxUnconfirmed && !yes)
    throw problem('VALIDATION_ERROR', `${matches} jobs match, which is more than ${maxUnconfirmed}: add --yes to ${action} them`)
  const { done, skipped, answered } = await prepared.run()
  return {
    data: { done, skipped, skipped_answered: answered },
    lines: [
      `${past[action]}: ${done}`,
      ...(skipped > 0 ? [`Skipped, since their state or kind does not fit: ${skipped}`] : []),
      ...(answered > 0 ? [`Skipped, since the caller was told of the failure: ${answered}. --also-answered retries these too.`] : []),
    ],
  }
}

const actCommand = (action: JobAction, summary: string, options: typeof retryOptions | typeof actOptions): Command =>
  command({ name: `jobs ${action}`, summary, options, run: (given: TypeOf<typeof retryOptions>, platform) => act(platform, action, given) })

export const jobCommands = [
  apiCommand({
    name: 'jobs',
    summary: 'Show the kinds of jobs: pool, how many run at once, retries, time limit',
    options: schema(t.Object({})),
    run: async () => {
      const order = [...jobs].sort((a, b) => (a.pool + a.name < b.pool + b.name ? -1 : 1))
      const kinds = order.map(({ name, pool, concurrency, slotsPerWorkspace, retry, timeoutSeconds, tracked, kind }) => ({
        pool,
        job: name,
        'at once': concurrency,
        'per workspace': slotsPerWorkspace ?? null,
        retries: `${retry.limit} × ${retry.delaySeconds} s`,
        'time limit': `${timeoutSeconds} s`,
        operation: tracked ? kind : null,
      }))
      return { data: { kinds }, lines: formatTable([Object.keys(kinds[0] ?? {}), ...kinds.map((row) => Object.values(row))]) }
    },
  }),
  command({
    name: 'jobs list',
    summary: 'List jobs of all workspaces, the newest first: those that can be tracked, of 30 days, and all that wait or failed',
    options: schema(
      t.Object({
        ...selection,
        sort: t.Optional(t.Enum(jobSorts, { description: 'created_at or -created_at, the default' })),
        limit: t.Optional(
          t.String({ pattern: '^([1-9]\\d{0,2}|1000)$', description: 'the most jobs that are listed, 1 to 1000; default 50' }),
        ),
      }),
    ),
    run: async ({ sort, limit = '50', ...selected }, platform) => {
      const order = { sort, limit: Number(limit) }
      const { jobs: found, total } = await findJobs(platform.db, jobs, await readFilter(platform, selected), order)
      const more = found.length < Number.parseInt(String(total), 10) ? [`${total} jobs match; the first ${found.length} are shown`] : []
      const lines = [...formatTable(found.map(cells)), ...more]
      return { data: { jobs: found, total }, lines: lines.length > 0 ? lines : ['No job matches.'] }
    },
  }),
  command({
    name: 'jobs show',
    summary: 'Show a job: why it waits, its attempts, what it was given, what caused it and what it caused',
    options: schema(t.Object({ id: t.String({ description: 'id of the job, as jobs list shows it' }) })),
    run: async ({ id }, platform) => {
      const job = await findJob(platform.db, jobs, id)
      return { data: job, lines: detailLines(job) }
    },
  }),
  actCommand('retry', 'Retry jobs that have failed', retryOptions),
  actCommand('cancel', 'Cancel jobs that wait, are held or run; whoever waits for them gets CANCELLED', actOptions),
  actCommand('discard', 'Put away jobs that have failed: they count as cancelled', actOptions),
]
