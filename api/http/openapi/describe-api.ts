import { cookieName } from '#api/access/operator-session.ts'
import { collectSchemas, type JsonObject, type Schemas } from '#api/http/openapi/collect-schemas.ts'
import { failureSchema, failuresOf } from '#api/http/openapi/failures.ts'
import { headerParameters } from '#api/http/openapi/header-parameters.ts'
import { parametersOf, pathTemplate } from '#api/http/openapi/parameters.ts'
import { requestBodyOf } from '#api/http/openapi/request-body.ts'
import { responseHeaders, successesOf } from '#api/http/openapi/successes.ts'
import { tags } from '#api/http/openapi/tags.ts'
import type { Route, Section } from '#api/http/route.ts'
import type { EventType } from '#shared/core/events/event-type.ts'
import { exampleOf } from '#shared/core/events/list-types.ts'
import { eventSchema } from '#shared/core/events/schemas.ts'

/** Describes the API as an OpenAPI 3.1 document, from the route declarations only, so it cannot differ from the served routes. */
export function describeApi(sections: readonly Section[], publicUrl: string): JsonObject {
  const schemas = collectSchemas()
  const failures = new Map<string, JsonObject>()
  const paths: Record<string, Record<string, JsonObject>> = {}
  const guide = `${publicUrl}/docs`
  for (const { base, routes } of sections) {
    for (const route of routes) {
      const path = pathTemplate(base + route.path)
      paths[path] ??= {}
      paths[path][route.method.toLowerCase()] = {
        operationId: operationIdOf(route),
        tags: [route.tag],
        summary: route.summary,
        description: route.description,
        parameters: parametersOf(route, schemas),
        ...requestBodyOf(route, schemas),
        responses: { ...successesOf(route, schemas), ...failuresOf(route, failures) },
        security: securityOf(route),
        'x-permission': route.permission,
        ...(route.further ? { 'x-further-permissions': route.further.map(({ permission }) => permission) } : {}),
        'x-app': route.app,
        'x-rate-limit': route.usesPasswords ? 'sign-in' : route.limit,
      }
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Kontor',
      version: '1',
      summary: 'A multi-tenant workspace platform with one REST API',
      description:
        'Every JSON success body is `{data: …}`, every failure `{error: {code, message, request_id}}`. Identifiers are UUIDs, timestamps ' +
        'RFC 3339 in UTC, amounts exact decimals. Unknown keys of a body and unknown query parameters are refused; a change leaves omitted keys unchanged, and null clears an optional key.',
      license: { name: 'All rights reserved', identifier: 'LicenseRef-all-rights-reserved' },
      contact: { name: 'Operator of this installation', url: publicUrl },
    },
    servers: [{ url: publicUrl }],
    externalDocs: { description: 'The guide', url: guide },
    tags: Object.entries(tags).map(([name, [description, rules]]) => ({
      name,
      description,
      externalDocs: { description: 'Rules', url: `${guide}/${rules}` },
    })),
    paths,
    webhooks: Object.fromEntries(sections.flatMap(({ events = [] }) => events.map((type) => [type.type, webhookOf(type, schemas)]))),
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An access key, or the session token of a signed-in person.' },
        console: {
          type: 'apiKey',
          in: 'cookie',
          name: cookieName(publicUrl),
          description: 'The session of an operator in the console, which the form at `/operator` opens. It is good for pages only.',
        },
      },
      parameters: headerParameters,
      headers: responseHeaders,
      responses: Object.fromEntries(failures),
      schemas: { ApiError: failureSchema, ...schemas.named() },
    },
  }
}

/** An event as a webhook receives it. */
function webhookOf(type: EventType, schemas: Schemas): JsonObject {
  const content = { 'application/json': { schema: schemas.reference(eventSchema(type)), example: exampleOf(type) } }
  return {
    post: {
      operationId: `on${type.type.split(/[._]/).map(capital).join('')}`,
      tags: ['Events'],
      summary: type.description,
      description: `Needs ${type.permission}.`,
      requestBody: { required: true, content },
      responses: { 200: { description: 'The event was taken.' } },
      security: [],
    },
  }
}

function securityOf({ kind, permission }: Pick<Route, 'kind' | 'permission'>): readonly JsonObject[] {
  if (permission === 'public') return []
  return [permission === 'operator' && kind === 'page' ? { console: [] } : { bearer: [] }]
}

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

/**
 * A stable name for an operation, derived from its method and path: `GET /orgs/:orgId/records/:typeKey` is `getRecordsByTypeKey`. The
 * workspace prefix is omitted. A page of the operator console, which may be named as a route below `/v1`, ends with `Page`.
 */
function operationIdOf({ method, path, kind, permission }: Route): string {
  const segments = path.replace(/^\/orgs\/:orgId(?=\/)/, '').match(/[:*]?\w+/g) ?? []
  const words = segments.map((segment: string) => (/^\w/.test(segment) ? capital(segment) : `By${capital(segment.slice(1))}`))
  const ending = kind === 'page' && permission === 'operator' ? 'Page' : ''
  return method.toLowerCase() + (words.join('') || 'Start') + ending
}
