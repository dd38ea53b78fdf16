import type { Example } from '#api/http/declaration.ts'
import { ids } from '#api/http/example-ids.ts'
import { maxBodyBytes } from '#api/http/request/body.ts'
import { type BareResponse, delegate } from '#api/http/route.ts'
import type { Invocation } from '#shared/core/automation/schemas.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { requireFunction } from '#shared/features/functions/definitions/functions.ts'
import { invokeFunctionJob } from '#shared/features/functions/jobs.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/** Resolves the function; the same NOT_FOUND for a missing, a disabled and a non-public one (docs/contract/public.md#http-functions). */
async function onOpenFunction({ params }: { params: { functionId: string } }, scope: Scope) {
  const resource = await requireFunction(scope, params.functionId)
  if (!resource.enabled || !resource.http_enabled) throw problem('NOT_FOUND')
  return { key: resource.id, resource }
}

/** Public callers do not learn why a function failed. */
const failedProblem = () => problem('INTERNAL', 'function failed', { expected: true })
const timedOut = () => problem('INTERNAL', 'function timed out', { expected: true })

const bareResponse: BareResponse<Invocation> = {
  body: ({ result, error, timed_out }) => {
    if (error === undefined) return result
    throw timed_out ? timedOut() : failedProblem()
  },
  failure: (reason) => {
    if (reason === 'late') return timedOut()
    // Load, a part that is away and a cancellation are not the function's: 503 says that another call may succeed.
    if (reason.status === 503) return problem(reason.code, undefined, { expected: true })
    return reason.status < 500 ? problem('NOT_FOUND') : failedProblem()
  },
}

const run = <const Method extends 'GET' | 'POST'>(method: Method, example: Pick<Example<'/'>, 'body' | 'answer'>) =>
  delegate({
    method,
    path: '/fn/:orgId/:functionId',
    summary: 'Run a public function',
    description:
      'With the rights of a visitor. The function receives {method, path, query, body}; its return value is the whole body of the answer.',
    example: { params: { functionId: ids.function }, ...example },
    tag: 'Public functions',
    app: 'functions',
    permission: 'public',
    limit: 'functions',
    on: onOpenFunction,
    body: 'any',
    maxBodyBytes,
    job: invokeFunctionJob,
    makes: 'json',
    bare: bareResponse,
    payload: ({ resource, line, body }) => ({
      functionId: resource.id,
      input: JSON.stringify({ ...line(), body }),
      rights: 'caller' as const,
    }),
  })

export const routes = [run('GET', { answer: { price: 5.7 } }), run('POST', { body: { weight_kg: 5 }, answer: { price: 8.9 } })]
