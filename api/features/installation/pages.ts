import { consoleAddress } from '#api/access/operator-session.ts'
import { consolePage, formatTime, queryAddress, showConsole } from '#api/core/operators/console.ts'
import { numberColumn as number, renderTable, textColumn as text } from '#api/core/operators/table.ts'
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
  readonly parts: readonly (readonly [name: string, value: string])[]
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
      return showConsole(scope, { title: 'Overview', place: 'overview', content })
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
          ...[text('Process'), text('Host'), text('Release'), text('Started'), text('Last heartbeat'), number('Memory')],
          ...[number('Slots in use'), text('Runs now')],
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
      return showConsole(scope, { title: 'Processes', place: 'workers', content })
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
          columns: [text('Next'), text('Kind'), text('What'), text('Workspace'), text('Last'), number('Took'), text('Outcome')],
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
          columns: [text('Kind'), number('How many'), text('First')],
          rows: waiting.map(({ kind, count, next }) => [kind, count, next === null ? '' : formatTime(next)]),
        }).text,
      })
      return showConsole(scope, { title: 'Schedules', place: 'schedules', content })
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
          ...[text('Workspace'), number('Calls'), number('Computing'), number('Database'), number('Jobs'), number('Share of jobs')],
          ...[number('Waiting'), number('Rows'), number('Size of rows'), number('Files'), number('Mails')],
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
      return showConsole(scope, { title: 'Use by workspace', place: 'use', content })
    },
  }),
]

/** The most workspaces on the page; the route lists all. */
const maxWorkspaces = 200

const megabytes = (bytes: number): number => Math.round(bytes / 100_000) / 10

const partsOf = ({ jobs, oldest_seconds, processes, database, store, mail }: Overview): readonly (readonly [string, string])[] => [
  ['Jobs', `${jobs.waiting} waiting, ${jobs.held} held, ${jobs.running} running, ${jobs.failed} failed`],
  ['Longest wait', `${oldest_seconds} s`],
  ['Processes', `${processes.api} API, ${processes.worker} workers, ${processes.dead} died in the last day`],
  ['Database', `${database.connections} of ${database.max_connections} connections, ${megabytes(database.size_bytes)} MB`],
  ['Slow statements now', String(database.slow_statements)],
  ['File store', `${store.kind}: ${store.fault ?? 'answers'}`],
  ['Mail', `${mail.waiting} waiting${mail.oldest === null ? '' : ` since ${formatTime(mail.oldest)}`}, ${mail.uncertain} uncertain`],
  ['Failed mails of the last day', String(mail.failed_day)],
]
