import * as examples from '#api/core/operators/examples.ts'
import { ids } from '#api/http/example-ids.ts'
import { answer } from '#api/http/route.ts'
import { operateJob, operateJobs } from '#shared/core/operators/act-on-jobs.ts'
import { createReader, type PlatformScope } from '#shared/core/scope/scope.ts'
import { cursorParameters } from '#shared/platform/db/lists.ts'
import type { AnyJob } from '#shared/platform/jobs/job.ts'
import { type JobAction, jobActions } from '#shared/platform/jobs/operator/act.ts'
import { filterProperties, jobSorts } from '#shared/platform/jobs/operator/filter.ts'
import { findJob, findJobs } from '#shared/platform/jobs/operator/find-jobs.ts'
import { jobDetail, jobPage } from '#shared/platform/jobs/operator/schemas.ts'
import { makeCursor, readCursor } from '#shared/platform/kernel/cursor.ts'
import { instant, schema, t, uuid } from '#shared/platform/kernel/schema.ts'

const common = { tag: 'Operators', app: null, permission: 'operator', limit: null } as const

const listQuery = schema(t.Object({ ...filterProperties, sort: t.Optional(t.Enum(jobSorts)), ...cursorParameters() }))

const position = schema(t.Object({ created_at: instant, id: uuid }))

/** A route of an action to one job. */
const actionRoute = (jobs: readonly AnyJob[], action: JobAction, summary: string, description: string, example: object) =>
  answer({
    ...common,
    method: 'POST',
    path: `/operator/jobs/:id/${action}` as const,
    summary,
    description,
    example: { params: { id: ids.job }, answer: example },
    status: 200,
    response: jobDetail,
    handle: ({ params }: { params: { id: string } }, scope) => operateJob(scope, jobs, action, params.id, {}),
  })

/** A page of the jobs that a query means. Throws VALIDATION_ERROR for a filter or a cursor that does not fit. */
export async function listJobs(jobs: readonly AnyJob[], scope: PlatformScope, query: ReturnType<typeof listQuery.parse>) {
  const { sort, cursor, limit, ...filter } = query
  const after = cursor === undefined ? undefined : readCursor(scope, cursor, position)
  const { next, ...found } = await findJobs(createReader(scope), jobs, filter, { sort, after, limit })
  return { ...found, next_cursor: next && makeCursor(scope, next) }
}

/** Routes of the jobs of all workspaces; `jobs` are the declared ones. */
export const createJobRoutes = (jobs: readonly AnyJob[]) => [
  answer({
    ...common,
    method: 'GET',
    path: '/operator/jobs',
    summary: 'List the jobs of all workspaces',
    description:
      'Tracked jobs of 30 days, and jobs of other kinds that wait, are held or failed; the newest first. `total` is exact up to 10,000, then `10000+`.',
    example: { query: { kind: 'records.export', state: 'failed', limit: 20 }, answer: examples.jobs },
    query: listQuery,
    status: 200,
    response: jobPage,
    handle: ({ query }, scope) => listJobs(jobs, scope, query),
  }),
  answer({
    ...common,
    method: 'GET',
    path: '/operator/jobs/:id',
    summary: 'Get a job of any workspace',
    description: 'With its attempts, why it waits, what caused it and what it caused.',
    example: { params: { id: ids.job }, answer: examples.failedJob },
    status: 200,
    response: jobDetail,
    handle: ({ params }, scope) => findJob(createReader(scope), jobs, params.id),
  }),
  answer({
    ...common,
    method: 'POST',
    path: '/operator/jobs/:id/retry',
    summary: 'Retry a failed job',
    description: 'It continues from its last checkpoint, under its own id.',
    example: { params: { id: ids.job }, body: { also_answered: true }, answer: examples.retriedJob },
    body: schema(
      t.Object({
        also_answered: t.Optional(
          t.Boolean({ description: 'True to retry a job although its caller was told that it failed, and may have repeated the call.' }),
        ),
      }),
    ),
    status: 200,
    response: jobDetail,
    handle: ({ params, body: { also_answered: alsoAnswered } }, scope) => operateJob(scope, jobs, 'retry', params.id, { alsoAnswered }),
  }),
  actionRoute(
    jobs,
    'cancel',
    'Cancel a job',
    'A job that waits, is held or runs fails with CANCELLED, and what it writes later is not committed.',
    examples.cancelledJob,
  ),
  actionRoute(jobs, 'discard', 'Discard a failed job', 'Its state becomes cancelled, and it cannot be retried.', examples.discardedJob),
  answer({
    ...common,
    method: 'POST',
    path: '/operator/jobs/act',
    summary: 'Act on all jobs that match',
    description:
      'As a job of the kind jobs.act, whose progress GET /operator/jobs/{id} shows. Jobs whose state does not fit when it reaches them are skipped.',
    example: {
      body: { action: 'discard', filter: { kind: 'records.export', error: 'file store' }, expect: 120 },
      answer: { job_id: ids.job, status: 'queued' },
    },
    body: schema(
      t.Object({
        action: t.Enum(jobActions),
        filter: t.Object(filterProperties),
        expect: t.Integer({
          minimum: 0,
          description:
            'The number of jobs that should match. When it differs from the number that do by more than a tenth, nothing is done.',
        }),
        also_answered: t.Optional(t.Boolean({ description: 'As for a retry of one job.' })),
      }),
    ),
    status: 202,
    response: schema(t.Object({ job_id: uuid, status: t.Enum(['queued']) })),
    handle: async ({ body: { action, filter, expect, also_answered: alsoAnswered } }, scope) => ({
      job_id: await operateJobs(scope, jobs, { action, filter, alsoAnswered }, expect),
      status: 'queued' as const,
    }),
  }),
]
