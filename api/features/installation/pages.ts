import { consoleAddress } from '#api/access/operator-session.ts'
import { consolePage, formatTime, queryAddress, showConsole } from '#api/core/operators/console.ts'
import { numberColumn, renderTable, textColumn as text } from '#api/core/operators/table.ts'
import { stream } from '#api/features/installation/examples.ts'
import { createKindPages } from '#api/features/installation/kind-pages.ts'
import { streamOverview } from '#api/features/installation/overview-stream.ts'
import { page } from '#api/http/route.ts'
import { template } from '#api/pages/template.ts'
import { readOverview } from '#shared/features/installation/overview.ts'
import { describeProcesses } from '#shared/features/installation/processes.ts'
import { describeSchedules } from '#shared/features/installation/schedules.ts'
import type { Overview } from '#shared/features/installation/schemas.ts'
import { listWorkspaceLoads } from '#shared/features/installation/workspaces.ts'
import type { AnyJob } from '#shared/platform/jobs/job.ts'

const renderOverview = template<{
  readonly parts: readonly OverviewPart[]
  readonly finished: readonly number[]
}>(new URL('overview.eta', import.meta.url))
const renderSchedules = template<{ readonly schedules: string; readonly waiting: string }>(new URL('schedules.eta', import.meta.url))

/** Pages about the whole installation; `jobs` are the declared jobs. */
export const createPages = (jobs: readonly AnyJob[]) => [
  page({
    ...consolePage,
    method: 'GET',
    path: '/operator/overview',
    summary: 'Show the state of the installation',
    description: 'What waits, runs and has failed, and the state of each part.',
    example: { file: 'Overview' },
    handle: async (_, scope) => {
      const found = await readOverview(scope)
      const content = renderOverview({ parts: partsOf(found), finished: found.finished_by_minute })
      return showConsole(scope, { title: 'Overview', place: 'overview', content, isLive: true })
    },
  }),
  page({
    ...consolePage,
    method: 'GET',
    path: '/operator/stream',
    summary: 'Follow the state of the installation by the console',
    description: 'For the script of the pages: server-sent events as below `/v1`.',
    example: { file: stream },
    fails: ['OVERLOADED'],
    contentType: 'text/event-stream',
    handle: async (_, scope) => streamOverview(scope),
  }),
  ...createKindPages(jobs),
  page({
    ...consolePage,
    method: 'GET',
    path: '/operator/workers',
    summary: 'Show the processes',
    description: 'Those that live, and those that died within the last day.',
    example: { file: 'Processes' },
    handle: async (_, scope) => {
      const processes = await describeProcesses(scope.db, jobs)
      const content = renderTable({
        label: 'Processes',
        empty: 'No process lives.',
        columns: [
          ...[text('Process'), text('Host'), text('Release'), text('Started'), text('Last heartbeat'), numberColumn('Memory')],
          ...[numberColumn('Slots in use'), text('Runs now')],
        ],
        rows: processes.map((process) => [
          process.kind === 'api' ? 'API' : `worker: ${process.pools.join(', ')}`,
          `${process.host}:${process.pid}`,
          process.release,
          formatTime(process.started_at),
          `${process.dead ? 'dead since ' : ''}${formatTime(process.heartbeat_at)}`,
          `${megabytes(process.memory_bytes)} MB`,
          process.slots === 0 ? '' : `${process.running.length} of ${process.slots}`,
          process.running.map(({ kind, id }) => `${kind} ${id}`).join(', '),
        ]),
      })
      return showConsole(scope, { title: 'Processes', place: 'workers', content, isLive: true })
    },
  }),
  page({
    ...consolePage,
    method: 'GET',
    path: '/operator/schedules',
    summary: 'Show the work that recurs',
    description: 'Schedules of flows and maintenance tasks with their next and last run, and what waits for a time.',
    example: { file: 'Schedules' },
    handle: async (_, scope) => {
      const { schedules, waiting } = await describeSchedules(scope.db)
      const content = renderSchedules({
        schedules: renderTable({
          label: 'Schedules',
          empty: 'Nothing recurs.',
          columns: [text('Next'), text('Kind'), text('What'), text('Workspace'), text('Last'), numberColumn('Took'), text('Outcome')],
          rows: schedules.map(({ next, kind, subject, workspace, held, last }) => [
            held ? 'held' : formatTime(next),
            kind,
            subject,
            workspace === null ? 'the platform' : (workspace.name ?? workspace.id),
            last === null ? 'never' : formatTime(last.at),
            last?.ms == null ? '' : `${last.ms} ms`,
            last === null ? '' : [last.status, last.error].filter((part) => part !== null).join(': '),
          ]),
        }).text,
        waiting: renderTable({
          label: 'What waits for a time',
          empty: 'Nothing waits for a time.',
          columns: [text('Kind'), numberColumn('How many'), text('First')],
          rows: waiting.map(({ kind, count, next }) => [kind, count, next === null ? '' : formatTime(next)]),
        }).text,
      })
      return showConsole(scope, { title: 'Schedules', place: 'schedules', content, isLive: true })
    },
  }),
  page({
    ...consolePage,
    method: 'GET',
    path: '/operator/use',
    summary: 'Show what each workspace uses',
    description: 'What each holds, and what was done for it in the last day; the busiest come first.',
    example: { file: 'Use by workspace' },
    handle: async (_, scope) => {
      const workspaces = await listWorkspaceLoads(scope.db, scope.now())
      const content = renderTable({
        label: 'Use by workspace',
        empty: 'There is no workspace.',
        columns: [
          ...[
            text('Workspace'),
            numberColumn('Calls'),
            numberColumn('Computing'),
            numberColumn('Database'),
            numberColumn('Jobs'),
            numberColumn('Share of jobs'),
          ],
          ...[numberColumn('Waiting'), numberColumn('Rows'), numberColumn('Size of rows'), numberColumn('Files'), numberColumn('Mails')],
        ],
        rows: workspaces
          .slice(0, maxWorkspaces)
          .map((load) => [
            { text: load.name, address: consoleAddress(scope.config, `workspaces/${load.id}`) },
            ...[load.calls, `${load.computing_seconds} s`, `${load.database_seconds} s`, load.jobs],
            `${Math.round(load.job_share * 100)} %`,
            load.waiting === 0 ? 0 : { text: load.waiting, address: queryAddress(scope, 'jobs', { workspace: load.id, state: 'waiting' }) },
            load.rows,
            ...[`${megabytes(load.row_bytes)} MB`, `${megabytes(load.file_bytes)} MB`, load.mails_day],
          ]),
      })
      return showConsole(scope, { title: 'Use by workspace', place: 'use', content, isLive: true })
    },
  }),
]

/** The most workspaces on the page; the route lists all. */
const maxWorkspaces = 200

const megabytes = (bytes: number): number => Math.round(bytes / 100_000) / 10

/** A part of the overview, as text; `none` is shown for null. The script of the page finds it in the events by its path. */
interface Figure {
  readonly figure: string
  readonly shown: string
  readonly format?: 'megabytes' | 'time'
  readonly none?: string
}

interface OverviewPart {
  readonly name: string
  readonly texts: readonly (string | Figure)[]
}

const number = (figure: string, value: number): Figure => ({ figure, shown: String(value) })

const partsOf = ({
  jobs,
  oldest_seconds,
  processes,
  database,
  store,
  feed,
  streams,
  webhooks,
  mail,
}: Overview): readonly OverviewPart[] => {
  const jobCounts = (['waiting', 'held', 'running', 'failed'] as const).flatMap((state, index) => [
    ...(index === 0 ? [] : [', ']),
    ...[number(`jobs.${state}`, jobs[state]), ` ${state}`],
  ])
  const size: Figure = { figure: 'database.size_bytes', shown: String(megabytes(database.size_bytes)), format: 'megabytes' }
  const fault: Figure = { figure: 'store.fault', shown: store.fault ?? 'answers', none: 'answers' }
  const oldest: Figure = {
    figure: 'mail.oldest',
    shown: mail.oldest === null ? 'none' : formatTime(mail.oldest),
    format: 'time',
    none: 'none',
  }
  return [
    { name: 'Jobs', texts: jobCounts },
    { name: 'Longest wait', texts: [number('oldest_seconds', oldest_seconds), ' s'] },
    {
      name: 'Processes',
      texts: [
        ...[number('processes.api', processes.api), ' API, ', number('processes.worker', processes.worker), ' workers, '],
        ...[number('processes.dead', processes.dead), ' died in the last day'],
      ],
    },
    {
      name: 'Database',
      texts: [
        ...[number('database.connections', database.connections), ' of ', number('database.max_connections', database.max_connections)],
        ...[' connections, ', size, ' MB'],
      ],
    },
    { name: 'Slow statements now', texts: [number('database.slow_statements', database.slow_statements)] },
    { name: 'File store', texts: [`${store.kind}: `, fault] },
    {
      name: 'List of events',
      texts: [number('feed.waiting', feed.waiting), ' without a number, ', number('feed.lag_ms', feed.lag_ms), ' ms behind'],
    },
    { name: 'Streams of events', texts: [number('streams', streams), ' open'] },
    {
      name: 'Webhooks',
      texts: [
        ...[number('webhooks.active', webhooks.active), ' active, ', number('webhooks.failing', webhooks.failing), ' failing, '],
        ...[number('webhooks.disabled', webhooks.disabled), ' disabled'],
      ],
    },
    {
      name: 'Deliveries of the last hour',
      texts: [
        ...[number('webhooks.delivered', webhooks.delivered), ' delivered, ', number('webhooks.waiting', webhooks.waiting), ' waiting, '],
        ...[number('webhooks.failed', webhooks.failed), ' failed'],
      ],
    },
    { name: 'First waiting delivery', texts: [number('webhooks.oldest_seconds', webhooks.oldest_seconds), ' s'] },
    { name: 'Mail', texts: [number('mail.waiting', mail.waiting), ' waiting, ', number('mail.uncertain', mail.uncertain), ' uncertain'] },
    { name: 'First waiting mail', texts: [oldest] },
    { name: 'Failed mails of the last day', texts: [number('mail.failed_day', mail.failed_day)] },
  ]
}
