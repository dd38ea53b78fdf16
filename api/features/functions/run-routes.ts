import * as examples from '#api/features/functions/examples.ts'
import { onFunction } from '#api/features/functions/routes.ts'
import { ids } from '#api/http/example-ids.ts'
import { answer, orgPath } from '#api/http/route.ts'
import { functionVersionSummary, functionVersionView, functionView } from '#shared/features/functions/definitions/schemas.ts'
import { getVersion, listVersions, restoreVersion } from '#shared/features/functions/definitions/versions.ts'
import { getFunctionRun, listFunctionRuns } from '#shared/features/functions/runs/runs.ts'
import { functionRunPage, functionRunQuery, functionRunView } from '#shared/features/functions/runs/schemas.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

const common = { tag: 'Functions', app: 'functions', limit: null, on: onFunction } as const
const runs = `${orgPath}/functions/:fnId/runs` as const
const versions = `${orgPath}/functions/:fnId/versions` as const

/** Routes of a function's runs and versions. */
export const routes = [
  answer({
    ...common,
    method: 'GET',
    path: runs,
    summary: 'List runs of a function',
    description: 'Newest first, of the last 30 days.',
    example: { params: { fnId: ids.function }, query: { limit: 20 }, answer: examples.runs },
    permission: 'functions:read',
    query: functionRunQuery,
    status: 200,
    response: functionRunPage,
    handle: ({ resource, query }, scope) => listFunctionRuns(scope, resource.id, query),
  }),
  answer({
    ...common,
    method: 'GET',
    path: `${runs}/:runId`,
    summary: 'Get a run of a function',
    description: 'With its result, console output and calls, for 30 days.',
    example: { params: { fnId: ids.function, runId: ids.functionRun }, answer: examples.runWithSteps },
    permission: 'functions:read',
    status: 200,
    response: functionRunView,
    handle: ({ resource, params }, scope) => getFunctionRun(scope, resource.id, params.runId),
  }),
  answer({
    ...common,
    method: 'GET',
    path: versions,
    summary: 'List versions of a function',
    description: 'The last 50, newest first; the first is the current one.',
    example: { params: { fnId: ids.function }, answer: [examples.version] },
    permission: 'functions:read',
    status: 200,
    response: schema(t.Array(functionVersionSummary.json)),
    handle: ({ resource }, scope) => listVersions(scope, resource.id),
  }),
  answer({
    ...common,
    method: 'GET',
    path: `${versions}/:version`,
    summary: 'Get a version of a function',
    description: 'With its source.',
    example: { params: { fnId: ids.function, version: '1' }, answer: examples.versionWithSource },
    permission: 'functions:read',
    status: 200,
    response: functionVersionView,
    handle: ({ resource, params }, scope) => getVersion(scope, resource.id, params.version),
  }),
  answer({
    ...common,
    method: 'POST',
    path: `${versions}/:version/restore`,
    summary: 'Go back to a version of a function',
    description: 'The source of that version becomes the newest version, and the caller becomes the author of the function.',
    example: { params: { fnId: ids.function, version: '1' }, answer: examples.restoredFunction },
    permission: 'functions:create',
    status: 200,
    response: functionView,
    handle: ({ resource, params }, scope) => restoreVersion(scope, resource.id, params.version),
  }),
]
