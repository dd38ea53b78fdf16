import { refusesCrossSite } from '#api/http/cors.ts'
import { needsNoPermission } from '#api/http/declaration.ts'
import type { JsonObject } from '#api/http/openapi/collect-schemas.ts'
import { commonHeaders, isLimited } from '#api/http/openapi/successes.ts'
import type { Route } from '#api/http/route.ts'
import { type ErrorCode, errorCatalogue } from '#shared/platform/kernel/errors.ts'

/** The body of every failure (docs/contract/conventions.md#errors). */
export const failureSchema: JsonObject = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message', 'request_id'],
      properties: {
        code: { enum: Object.keys(errorCatalogue), description: 'Stable: programs should decide by this code.' },
        message: { type: 'string', description: 'For humans; it may change.' },
        request_id: { type: 'string', description: 'The same as the header X-Request-ID.' },
      },
    },
  },
}

/** Returns a route's failures by status, as references to components. Adds those components to `responses`. */
export function failuresOf(route: Route, responses: Map<string, JsonObject>): JsonObject {
  const byStatus = Map.groupBy(codesOf(route), (code) => errorCatalogue[code].status)
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => {
      const name = codes.join('.') + (isLimited(route) ? '.limited' : '') + (route.kind === 'page' ? '.page' : '')
      responses.set(name, failure(codes, route))
      return [status, { $ref: `#/components/responses/${name}` }]
    }),
  )
}

/** All error codes of a route: those of the pipeline, and those that the declaration names. */
export function codesOf(route: Route): ErrorCode[] {
  const { permission, path, fails = [] } = route
  const inWorkspace = path.startsWith('/orgs/:orgId')
  const codes = new Set<ErrorCode>(['VALIDATION_ERROR', 'INTERNAL', 'OVERLOADED', 'UNAVAILABLE', ...fails])
  if (permission !== 'public') codes.add('UNAUTHORIZED')
  if (!needsNoPermission(permission) || permission === 'operator' || refusesCrossSite(route)) codes.add('FORBIDDEN')
  if (inWorkspace) for (const code of ['ORG_SUSPENDED', 'ORG_NOT_READY'] as const) codes.add(code)
  if (path.includes(':')) codes.add('NOT_FOUND')
  // A delegated job may be one too many.
  if (isLimited(route) || route.kind === 'delegate') codes.add('RATE_LIMITED')
  if (route.kind === 'delegate') codes.add('CANCELLED')
  return (Object.keys(errorCatalogue) as ErrorCode[]).filter((code) => codes.has(code))
}

function failure(codes: readonly ErrorCode[], route: Route): JsonObject {
  const narrowed = { properties: { error: { properties: { code: { enum: codes } } } } }
  return {
    description: codes.map((code) => `${code}: ${errorCatalogue[code].message}`).join('; '),
    headers: { ...commonHeaders(route), ...Object.assign({}, ...codes.map((code) => headersByCode[code] ?? {})) },
    content:
      route.kind === 'page'
        ? { 'text/html': { schema: { type: 'string', description: codes.join(' or ') } } }
        : { 'application/json': { schema: { allOf: [{ $ref: '#/components/schemas/ApiError' }, narrowed] } } },
  }
}

/** Additional headers of failures, by error code. */
const headersByCode: Partial<Readonly<Record<ErrorCode, JsonObject>>> = {
  UNAUTHORIZED: { 'WWW-Authenticate': { $ref: '#/components/headers/WwwAuthenticate' } },
  RATE_LIMITED: { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } },
  OVERLOADED: { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } },
  UNAVAILABLE: { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } },
  ORG_NOT_READY: { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } },
}
