import { ids } from '#api/http/example-ids.ts'
import type { JsonObject } from '#api/http/openapi/collect-schemas.ts'
import type { Route } from '#api/http/route.ts'

/** A request header, the routes that read it, and its description. */
interface HeaderParameter {
  readonly component: string
  readonly name: string
  readonly on: (route: Route) => boolean
  readonly description: string
  readonly schema: JsonObject
}

const table: readonly HeaderParameter[] = [
  {
    component: 'RequestId',
    name: 'X-Request-ID',
    on: () => true,
    description: 'Your own id of this request. It is returned, and shown in errors, logs and the audit trail.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,64}$' },
  },
  {
    component: 'Prefer',
    name: 'Prefer',
    on: ({ kind, permission, path }) => kind === 'delegate' && permission !== 'public' && path.includes(':orgId'),
    description: '`respond-async` answers 202 at once; `wait=n` waits up to n seconds, at most 60 (RFC 7240).',
    schema: { type: 'string', examples: ['respond-async', 'wait=5'] },
  },
  {
    component: 'IdempotencyKey',
    name: 'Idempotency-Key',
    on: (route) =>
      route.handlesVisitorKeys === true ||
      (route.kind !== 'page' &&
        route.method === 'POST' &&
        route.permission !== 'public' &&
        !route.path.startsWith('/auth/') &&
        !(route.kind === 'answer' && route.onlyReads)),
    description:
      'Repeating the key on the same path within 24 hours returns the first response without repeating the work. The key with another body ' +
      'is refused with VALIDATION_ERROR. A 5xx response is not kept.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
  {
    component: 'IfMatch',
    name: 'If-Match',
    on: ({ fails }) => fails?.includes('PRECONDITION_FAILED') ?? false,
    description: 'The ETag that was read; when another version is stored by now, the answer is PRECONDITION_FAILED.',
    schema: { type: 'string' },
  },
  {
    component: 'LastEventId',
    name: 'Last-Event-ID',
    on: ({ method, path }) => method === 'GET' && path === '/orgs/:orgId/events',
    description: 'Of a stream: the `id` of the last event that the client has got. It goes before `after`.',
    schema: { type: 'string', examples: [`${ids.feed}:1042`] },
  },
]

/** The header parameters of a route, as references. */
export const headerParametersOf = (route: Route): JsonObject[] =>
  table.filter(({ on }) => on(route)).map(({ component }) => ({ $ref: `#/components/parameters/${component}` }))

/** The components to which `headerParametersOf` refers. */
export const headerParameters: JsonObject = Object.fromEntries(
  table.map(({ component, name, description, schema }) => [component, { name, in: 'header', description, schema }]),
)
