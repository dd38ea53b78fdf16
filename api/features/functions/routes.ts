import * as examples from '#api/features/functions/examples.ts'
import { ids } from '#api/http/example-ids.ts'
import { withNextLink } from '#api/http/reply/link-header.ts'
import { answer, delegate, orgPath } from '#api/http/route.ts'
import { invokeInput } from '#shared/core/automation/schemas.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import {
  functionDisabledProblem,
  getFunction,
  listFunctions,
  removeFunction,
  requireFunction,
} from '#shared/features/functions/definitions/functions.ts'
import {
  functionChange,
  functionInput,
  functionSummary,
  functionValuesOf,
  functionView,
} from '#shared/features/functions/definitions/schemas.ts'
import { invokeFunctionJob, saveFunctionJob } from '#shared/features/functions/jobs.ts'
import { linkedQuery } from '#shared/platform/db/lists.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

/** Resource of the routes of one function: permissions are checked for its id. Throws NOT_FOUND. */
export const onFunction = async ({ params }: { params: { fnId: string } }, scope: Scope) => {
  const resource = await requireFunction(scope, params.fnId)
  return { key: resource.id, resource }
}

const common = { tag: 'Functions', app: 'functions', limit: null } as const
const all = `${orgPath}/functions` as const
const one = `${all}/:fnId` as const

export const routes = [
  answer({
    ...common,
    method: 'GET',
    path: all,
    summary: 'List functions',
    description: 'Oldest first, without their sources.',
    example: { query: { limit: 20 }, answer: [examples.summary] },
    permission: 'functions:read',
    perItem: true,
    query: linkedQuery,
    status: 200,
    linked: true,
    response: schema(t.Array(functionSummary.json)),
    handle: async (request, scope) => withNextLink(request, scope, await listFunctions(scope, request.query)),
  }),
  delegate({
    ...common,
    method: 'POST',
    path: all,
    summary: 'Create a function',
    description: 'The source must parse and define a function named handler at top level; it is not run.',
    example: {
      body: {
        name: 'Delivery price',
        description: 'The price of a delivery in euros, by its weight.',
        source: examples.source,
        http_enabled: true,
      },
      answer: examples.deliveryPrice,
    },
    permission: 'functions:create',
    body: functionInput,
    job: saveFunctionJob,
    makes: 'json',
    status: 201,
    payload: ({ body }) => ({ functionId: null, values: functionValuesOf(body) }),
  }),
  answer({
    ...common,
    method: 'GET',
    path: one,
    summary: 'Get a function',
    description: 'With its source.',
    example: { params: { fnId: ids.function }, answer: examples.deliveryPrice },
    permission: 'functions:read',
    on: onFunction,
    status: 200,
    response: functionView,
    handle: ({ resource }, scope) => getFunction(scope, resource.id),
  }),
  delegate({
    ...common,
    method: 'PUT',
    path: one,
    summary: 'Change a function',
    description: 'Omitted properties stay unchanged. A change of the source makes the caller the author of the function.',
    example: { params: { fnId: ids.function }, body: { timeout_ms: 2000 }, answer: examples.quickerFunction },
    permission: 'functions:create',
    on: onFunction,
    body: functionChange,
    stored: ({ resource }, scope) => getFunction(scope, resource.id),
    job: saveFunctionJob,
    makes: 'json',
    payload: ({ resource, body }) => ({ functionId: resource.id, values: functionValuesOf(body) }),
  }),
  answer({
    ...common,
    method: 'DELETE',
    path: one,
    summary: 'Delete a function',
    description: "Also deletes the function's versions. The function's public address then answers NOT_FOUND.",
    example: { params: { fnId: ids.function } },
    permission: 'functions:create',
    on: onFunction,
    status: 204,
    response: null,
    handle: ({ resource }, scope) => removeFunction(scope, resource.id),
  }),
  delegate({
    ...common,
    method: 'POST',
    path: `${one}/invoke`,
    summary: 'Run a function',
    description: 'With the rights of the caller. A function that throws or takes too long is answered with `error`; four run at a time.',
    example: { params: { fnId: ids.function }, body: { input: { weight_kg: 5 } }, answer: examples.invocation },
    permission: 'functions:invoke',
    on: onFunction,
    body: invokeInput,
    job: invokeFunctionJob,
    makes: 'json',
    payload: ({ resource: { id, enabled }, body }) => {
      if (!enabled) throw functionDisabledProblem()
      return { functionId: id, input: JSON.stringify(body.input ?? null), rights: 'caller' as const }
    },
  }),
]
