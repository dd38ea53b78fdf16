import * as examples from '#api/features/installation/examples.ts'
import { streamOverview } from '#api/features/installation/overview-stream.ts'
import { answer } from '#api/http/route.ts'
import { readOverview } from '#shared/features/installation/overview.ts'
import { describeProcesses } from '#shared/features/installation/processes.ts'
import { describeSchedules } from '#shared/features/installation/schedules.ts'
import { overview, processStates, schedules, workspaceLoads } from '#shared/features/installation/schemas.ts'
import { listWorkspaceLoads } from '#shared/features/installation/workspaces.ts'
import { describeKinds } from '#shared/platform/jobs/figures/kinds.ts'
import { jobKinds } from '#shared/platform/jobs/figures/schemas.ts'
import type { AnyJob } from '#shared/platform/jobs/job.ts'

const common = { method: 'GET', tag: 'Operators', app: null, permission: 'operator', limit: null, status: 200 } as const

/** Routes about the whole installation; `jobs` are the declared jobs. */
export const createRoutes = (jobs: readonly AnyJob[]) => [
  answer({
    ...common,
    path: '/operator/overview',
    summary: 'Get the state of the installation',
    description: 'What waits, runs and has failed, and the state of each part. Counts are some seconds old.',
    example: { answer: examples.overview },
    response: overview,
    handle: (_, scope) => readOverview(scope),
  }),
  answer({
    ...common,
    path: '/operator/stream',
    summary: 'Follow the state of the installation',
    description: 'Server-sent events: the overview once a second, as events named `overview`, until the session ends.',
    example: { file: examples.stream },
    fails: ['OVERLOADED'],
    response: null,
    contentType: 'text/event-stream',
    handle: async (_, scope) => streamOverview(scope),
  }),
  answer({
    ...common,
    path: '/operator/jobs/kinds',
    summary: 'List the kinds of jobs with what waits and runs',
    description: 'With the times, results and busiest workspaces of the last hour.',
    example: { answer: examples.kinds },
    response: jobKinds,
    handle: async (_, { db, now }) => ({ kinds: await describeKinds(db, jobs, now()) }),
  }),
  answer({
    ...common,
    path: '/operator/workers',
    summary: 'List the processes',
    description: 'Those that live, then those that died within the last day, with the jobs that each ran at its last heartbeat.',
    example: { answer: examples.processes },
    response: processStates,
    handle: async (_, { db }) => ({ processes: await describeProcesses(db, jobs) }),
  }),
  answer({
    ...common,
    path: '/operator/schedules',
    summary: 'List the work that recurs',
    description: 'The first 1,000 schedules of flows and maintenance tasks, with their next and last run, and what waits for a time.',
    example: { answer: examples.schedules },
    response: schedules,
    handle: (_, { db }) => describeSchedules(db),
  }),
  answer({
    ...common,
    path: '/operator/workspaces',
    summary: 'List the workspaces with what they use',
    description:
      'What each holds, what waits for it, and what was done for it in the last day. Those that used most of the database come first.',
    example: { answer: examples.workspaces },
    response: workspaceLoads,
    handle: async (_, { db, now }) => ({ workspaces: await listWorkspaceLoads(db, now()) }),
  }),
]
