import { ids } from '#api/http/example-ids.ts'
import type { JsonObject, Schemas } from '#api/http/openapi/collect-schemas.ts'
import { withExample } from '#api/http/openapi/with-example.ts'
import type { Route } from '#api/http/route.ts'

const text = { type: 'string' }
const header = (description: string): JsonObject => ({ description, schema: text })

/** Response headers that several answers have, by component name. */
export const responseHeaders: JsonObject = {
  RequestId: header('The id of this request: your own, or a new one.'),
  ETag: header('The version of the answered resource.'),
  Link: header('The next page, where there is one: `<address>; rel="next"`.'),
  Location: header('Address of the job.'),
  PreferenceApplied: header('The preference that was applied, such as `respond-async`.'),
  RateLimit: header('The remaining quota: `"group";r=remaining;t=seconds`.'),
  RateLimitPolicy: header('The quota: `"group";q=requests;w=seconds`.'),
  RetryAfter: header('Seconds after which to try again.'),
  WwwAuthenticate: header('`Bearer`.'),
}

const refer = (name: string): JsonObject => ({ $ref: `#/components/headers/${name}` })

/** Whether a route is rate limited. */
export const isLimited = ({ limit, usesPasswords }: Pick<Route, 'limit' | 'usesPasswords'>): boolean =>
  limit !== null || usesPasswords === true

/** The headers of every answer of a route. */
export const commonHeaders = (route: Route): JsonObject => ({
  'X-Request-ID': refer('RequestId'),
  ...(isLimited(route) ? { RateLimit: refer('RateLimit'), 'RateLimit-Policy': refer('RateLimitPolicy') } : {}),
})

/** The successful answers of a route, by status. */
export function successesOf(route: Route, schemas: Schemas): JsonObject {
  const { example } = route
  if (route.kind === 'page') {
    const { contentType } = route
    const content = contentType
      ? file(example?.file, contentType)
      : file(`<!doctype html>\n<html lang="en">\n<title>${example?.file}</title>\n…`, 'text/html')
    const description = contentType ? descriptions[200] : 'The page'
    return { 200: { description, headers: commonHeaders(route), ...content }, ...otherResponses(route) }
  }
  if (route.kind !== 'delegate') {
    const { status, response, contentType, replaces, tagged, linked } = route
    const content = mergeContent(response ? json(schemas.reference(response.json), example?.answer) : {}, file(example?.file, contentType))
    const headers = { ...commonHeaders(route), ...(tagged ? { ETag: refer('ETag') } : {}), ...(linked ? { Link: refer('Link') } : {}) }
    const answers = (description: string | undefined) => ({ description, headers, ...content })
    return { ...(replaces ? { 200: answers('Replaced') } : {}), [status]: answers(descriptions[status]), ...otherResponses(route) }
  }
  const applied = { 'Preference-Applied': refer('PreferenceApplied') }
  const made =
    route.makes === 'json' ? json(schemas.reference(route.job.result.json), example?.answer) : file(example?.file, ...[route.makes].flat())
  if (route.bare) return { 200: { description: 'The result of the work', headers: commonHeaders(route), ...anything(example?.answer) } }
  // A visitor waits for the result and never gets a job.
  if (route.permission === 'public')
    return { 200: { description: descriptions[200], headers: commonHeaders(route), ...made }, ...otherResponses(route) }
  return {
    [route.status ?? 200]: { description: 'The work is done', headers: { ...commonHeaders(route), ...applied }, ...made },
    202: {
      description: 'The work is not done yet: look up the job',
      headers: { ...commonHeaders(route), ...applied, Location: refer('Location') },
      ...json(schemas.reference(pending), { job_id: ids.job, status: 'queued' }),
    },
  }
}

const descriptions: Readonly<Record<number, string>> = {
  200: 'Done',
  201: 'Created',
  202: 'Started; the work continues in the background',
  203: 'Done',
  204: 'Done; there is no body',
  206: 'The part that Range asks for',
  302: 'Found at the address in Location',
  303: 'Continue at the address in Location',
  304: 'Not modified since the version in If-None-Match or If-Modified-Since',
  416: 'The requested range does not exist',
}

/** The responses for the other statuses of a route (`statuses`), which a `Reply` may have instead of the declared one. */
const otherResponses = (route: Route): JsonObject =>
  Object.fromEntries(
    (route.statuses ?? []).map((status) => {
      const content = status === 206 && 'contentType' in route ? file(undefined, route.contentType) : {}
      return [status, { description: descriptions[status], headers: commonHeaders(route), ...content }]
    }),
  )

const pending = {
  type: 'object',
  title: 'PendingJob',
  required: ['job_id', 'status'],
  properties: { job_id: { type: 'string', format: 'uuid' }, status: { enum: ['queued', 'running', 'done', 'failed'] } },
}

const json = (data: JsonObject, example: unknown): JsonObject => {
  const schema = { type: 'object', required: ['data'], properties: { data } }
  return { content: { 'application/json': { schema, ...(example === undefined ? {} : withExample({ data: example })) } } }
}

/** Content of an answer that is JSON, bytes, either of them, or empty. */
const mergeContent = (data: JsonObject, bytes: JsonObject): JsonObject => {
  const content = { ...(data.content as JsonObject), ...(bytes.content as JsonObject) }
  return Object.keys(content).length > 0 ? { content } : {}
}

const anything = (example: unknown): JsonObject => ({ content: { 'application/json': { schema: {}, ...withExample(example) } } })

/** Content of a file of one of these types, or of a page; empty when no type is given. The example is a file of the first type. */
function file(example: string | undefined, ...contentTypes: readonly (string | undefined)[]): JsonObject {
  const known = contentTypes.filter((type) => type !== undefined)
  const content = Object.fromEntries(
    known.map((type, index) => [
      type,
      { schema: type === 'text/html' ? text : { ...text, format: 'binary' }, ...withExample(index === 0 ? example : undefined) },
    ]),
  )
  return known.length > 0 ? { content } : {}
}
