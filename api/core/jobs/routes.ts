import * as examples from '#api/core/jobs/examples.ts'
import { ids } from '#api/http/example-ids.ts'
import { jobFileReply } from '#api/http/reply/job-file.ts'
import { answer, orgPath } from '#api/http/route.ts'
import { permits } from '#shared/core/scope/access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { findWorkspaceOperation, type Operation, recordFailureAnswered } from '#shared/platform/jobs/operations/operations.ts'
import { Problem, problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'
import { instant, nullable, schema, t, uuid } from '#shared/platform/kernel/schema.ts'

const job = schema(
  t.Object(
    {
      id: uuid,
      kind: t.String({ description: 'What the work is, such as records.import.' }),
      status: t.Enum(['queued', 'running', 'done', 'failed']),
      progress: nullable(t.Object({ done: t.Integer(), total: t.Integer() })),
      result: t.Optional(
        t.Unknown({
          description:
            'Body of the response that a waiting caller gets; null until the job is done, and for a job that makes a file. Only the ' +
            'starter of the job gets this property.',
        }),
      ),
      error: nullable(t.Object({ code: t.String(), message: t.String() })),
      created_at: instant,
      started_at: nullable(instant),
      finished_at: nullable(instant),
    },
    { title: 'Job', description: 'Work that a worker does.' },
  ),
)

/**
 * Whether the caller started the work. The result was made with the starter's rights, so only the starter may see it
 * (docs/contract/jobs.md#who-sees-a-job).
 */
const hasStarted = ({ principal_id }: Operation, { actor }: Scope): boolean => principal_id !== null && principal_id === actor.id

/** The operation of a path, visible to its starter and to holders of org:update; NOT_FOUND for all others. */
async function requireOperation({ jobId }: { jobId: string }, scope: Scope): Promise<Operation> {
  const operation = isUuid(jobId) ? await findWorkspaceOperation(scope.db, scope.workspace.id, jobId) : undefined
  if (!operation) throw problem('NOT_FOUND')
  if (!hasStarted(operation, scope) && !permits(scope, 'org:update')) throw problem('NOT_FOUND')
  return operation
}

export const routes = [
  answer({
    method: 'GET',
    path: `${orgPath}/jobs/:jobId`,
    summary: 'Get a job',
    description:
      'For the starter of the job. Holders of org:update see all but its result, and the code of an error with its general message; others get NOT_FOUND.',
    example: { params: { jobId: ids.job }, answer: examples.finishedExport },
    tag: 'Jobs',
    app: null,
    permission: 'member',
    limit: null,
    status: 200,
    response: job,
    handle: async ({ params }, scope) => {
      const operation = await requireOperation(params, scope)
      const { id, kind, status, progress, result, error, created_at, started_at, finished_at } = operation
      const view = { id, kind, status, progress, created_at, started_at, finished_at }
      // The message may hold values that the starter sent or read.
      if (!hasStarted(operation, scope)) return { ...view, error: error && { ...new Problem(error.code).toJSON() } }
      if (error && new Problem(error.code).status >= 500) await recordFailureAnswered(scope.db, id)
      return { ...view, error: error && { ...error }, result }
    },
  }),
  answer({
    method: 'GET',
    path: `${orgPath}/jobs/:jobId/result`,
    summary: 'Download the file that a job made',
    description: 'Only for the starter of the job. The file is kept for a day.',
    example: { params: { jobId: ids.job }, file: examples.exportedFile },
    tag: 'Jobs',
    app: null,
    permission: 'member',
    limit: null,
    status: 200,
    response: null,
    contentType: 'text/csv',
    handle: async ({ params }, scope) => {
      const operation = await requireOperation(params, scope)
      if (operation.file_id === null || !hasStarted(operation, scope)) throw problem('NOT_FOUND')
      return jobFileReply(scope, scope.workspace.id, operation.file_id)
    },
  }),
]
