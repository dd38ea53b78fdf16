import { answer, org } from '#api/http/route.ts'
import { fileDownload } from '#api/jobs/download.ts'
import { problem } from '#shared/kernel/errors.ts'
import { isUuid } from '#shared/kernel/ids.ts'
import { nullable, schema, t } from '#shared/kernel/schema.ts'
import { findOperationIn, type Operation } from '#shared/queue/operations.ts'
import type { Scope } from '#shared/scope/scope.ts'

const instant = t.String({ format: 'date-time' })

const job = schema(
  t.Object(
    {
      id: t.String({ format: 'uuid' }),
      kind: t.String({ description: 'What the work is, such as records.import.' }),
      status: t.Enum(['queued', 'running', 'done', 'failed']),
      progress: nullable(t.Object({ done: t.Integer(), total: t.Integer() })),
      result: t.Unknown({ description: 'The body that the waiting call would have had; null until it is done and for a file.' }),
      error: nullable(t.Object({ code: t.String(), message: t.String() })),
      created_at: instant,
      started_at: nullable(instant),
      finished_at: nullable(instant),
    },
    { title: 'Job', description: 'Work that a worker does (decisions, Jobs).' },
  ),
)

/** The operation of a path, seen only by who started it and by holders of org:update; to all others it is not there. */
async function requireOperation({ jobId }: { jobId: string }, scope: Scope): Promise<Operation> {
  const operation = isUuid(jobId) ? await findOperationIn(scope.db, scope.workspace.id, jobId) : undefined
  if (!operation) throw problem('NOT_FOUND')
  const mine = operation.principal_id !== null && operation.principal_id === scope.actor.id
  if (!mine && scope.actor.policy.permits('org:update') === 'never') throw problem('NOT_FOUND')
  return operation
}

export const routes = [
  answer({
    method: 'GET',
    path: `${org}/jobs/:jobId`,
    summary: 'Look up a job',
    tag: 'Jobs',
    app: null,
    permission: 'member',
    limit: null,
    status: 200,
    response: job,
    handle: async ({ params }, scope) => {
      const { id, kind, status, progress, result, error, created_at, started_at, finished_at } = await requireOperation(params, scope)
      return { id, kind, status, progress, result, error: error && { ...error }, created_at, started_at, finished_at }
    },
  }),
  answer({
    method: 'GET',
    path: `${org}/jobs/:jobId/result`,
    summary: 'Download the file that a job made',
    tag: 'Jobs',
    app: null,
    permission: 'member',
    limit: null,
    status: 200,
    response: null,
    contentType: 'text/csv',
    handle: async ({ params }, scope) => {
      const { file_id } = await requireOperation(params, scope)
      if (file_id === null) throw problem('NOT_FOUND')
      return fileDownload(scope, scope.workspace.id, file_id)
    },
  }),
]
