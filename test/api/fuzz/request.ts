import fc from 'fast-check'
import type { PageRoute, Route } from '#api/http/route.ts'
import { anyJson, fromSchema, type Json, type Names, underName } from '#test/api/fuzz/from-schema.ts'
import type { Place } from '#test/api/fuzz/place.ts'
import { anyText, hostileBody } from '#test/api/fuzz/texts.ts'
import { holdContract } from '#test/support/contract.ts'
import { sendRequest } from '#test/support/send-request.ts'

/** A request as it is sent. */
export interface Sent {
  readonly token: string | null
  readonly path: string
  readonly body: string | Uint8Array<ArrayBuffer> | null
  readonly headers: Readonly<Record<string, string>>
}

/** Requests to a route, from its declaration: half of them valid, the others with places that hold any value. */
export function requestsTo(route: Route, base: string, token: Place['token'], names: Names): fc.Arbitrary<Sent> {
  return fc.boolean().chain((noise) =>
    fc
      .record({
        token,
        path: paths(route, names, noise),
        query: queries(route, names, noise),
        body: bodies(route, names, noise),
        headers: noise ? fc.oneof(plainHeaders, oddHeaders) : plainHeaders,
      })
      .map(({ token, path, query, body, headers }) => ({ token, path: `${base}${path}${query}`, body, headers })),
  )
}

function paths({ path }: Route, names: Names, noise: boolean): fc.Arbitrary<string> {
  const parts = (path as string)
    .replaceAll(/[{}]/g, '')
    .split('/')
    .map((part) => {
      if (part.startsWith('*')) return fc.array(anyText.map(encode), { maxLength: 3 }).map((segments) => segments.join('/'))
      if (!part.startsWith(':')) return fc.constant(part)
      const known = names[part] ?? names[part.slice(1)] ?? fc.uuid()
      return (noise ? fc.oneof({ weight: 5, arbitrary: known }, { weight: 1, arbitrary: anyText }) : known).map(encode)
    })
  return fc.tuple(...parts).map((words) => words.join('/'))
}

/** `.` and `..` would be removed from the address before it is sent. */
const encode = (value: unknown): string => encodeURIComponent(String(value).toWellFormed()).replace(/^\.{1,2}$/, 'dots') || '%20'

function queries({ query }: Route, names: Names, noise: boolean): fc.Arbitrary<string> {
  const { properties = {} } = (query === undefined ? {} : query.json) as Json
  const known = Object.entries(properties).map(([name, property]) => fc.tuple(fc.constant(name), underName(name, property, names, noise)))
  const other = fc.tuple(fc.oneof(fc.constantFrom('limit', 'cursor', 'a[b]'), anyText), anyText)
  const parts = [...known, ...(noise ? [other] : [])]
  return fc
    .subarray(parts, { maxLength: Math.min(parts.length, 3) })
    .chain((chosen) => fc.tuple(...chosen))
    .map((pairs) => pairs.map(([name, value]) => `${encode(name)}=${encode(asQuery(value))}`).join('&'))
    .map((text) => text && `?${text}`)
}

const asQuery = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

function bodies(route: Route, names: Names, noise: boolean): fc.Arbitrary<Sent['body']> {
  if (route.method === 'GET') return fc.constant(null)
  if (route.kind === 'page') return forms(route, names, noise)
  if (route.kind === 'receive') return fc.oneof(csv, hostileBody)
  if (route.kind === 'delegate' && route.upload) return csv
  if (route.body === 'any')
    return fc.oneof(
      anyJson.map((value) => JSON.stringify(value)),
      hostileBody,
    )
  if (!route.body) return fc.oneof(fc.constant(null), fc.constant('{}'))
  const shaped = fromSchema(route.body.json as Json, names, noise).map((value) => JSON.stringify(value))
  return noise ? fc.oneof({ weight: 6, arbitrary: shaped }, { weight: 1, arbitrary: hostileBody }) : shaped
}

const forms = ({ form }: PageRoute, names: Names, noise: boolean): fc.Arbitrary<string> =>
  fromSchema((form?.json ?? { type: 'object', patternProperties: {} }) as Json, names, noise).map((value) =>
    new URLSearchParams(Object.fromEntries(Object.entries(Object(value)).map(([name, field]) => [name, asQuery(field)]))).toString(),
  )

const csv = fc
  .tuple(
    fc.subarray(['a_string', 'a_number', 'a_date', 'a_ref', 'nothing', '__proto__']),
    fc.array(fc.array(anyText, { maxLength: 4 }), { maxLength: 5 }),
  )
  .map(([heading, rows]) => [heading.join(), ...rows.map((row) => row.join())].join('\n'))

/** Text that a header can carry. */
const headerText = anyText.map((text) => text.replace(/[^\t\x20-\x7e\x80-\xff]/g, '').trim())
const some = (...values: readonly string[]) =>
  fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...values) }, { weight: 1, arbitrary: headerText })

const plainHeaders = fc.record(
  {
    'if-match': fc.constant('*'),
    'idempotency-key': fc.uuid(),
    prefer: fc.constantFrom('respond-async', 'wait=0', 'wait=5'),
    'x-forwarded-for': fc.ipV4(),
  },
  { requiredKeys: ['x-forwarded-for'] },
)

const oddHeaders = fc.record(
  {
    'if-match': some('*', '"1"', 'W/"1"', '"a", "b"'),
    'idempotency-key': some('a', 'b', 'c'),
    prefer: some('respond-async', 'wait=0', 'wait=x', 'respond-async, wait=1'),
    'x-request-id': some('a.request-1'),
    'content-type': some('application/json', 'text/csv', 'multipart/form-data; boundary=a', 'text/plain'),
    'x-forwarded-for': fc.ipV4(),
  },
  { requiredKeys: ['x-forwarded-for'] },
)

function typeOf(route: Route): string {
  if (route.kind === 'page') return 'application/x-www-form-urlencoded'
  if ('upload' in route && route.upload) return route.upload.contentTypes === 'any' ? 'text/csv' : (route.upload.contentTypes[0] ?? '')
  return 'application/json'
}

/** Bound of a response. The longest wait of a route is a minute: this bound detects missing responses, not slow ones. */
const patienceMs = 100_000

/** Sends a request; throws without a response, on an internal error, or on a response that the API's description does not contain. */
export async function send(root: string, route: Route, { token, path, body, headers }: Sent): Promise<number> {
  const { method } = route
  const answer = await sendRequest(root + path, {
    method,
    ...(body !== null && { body }),
    headers: {
      ...(body === null ? {} : { 'content-type': typeOf(route) }),
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    signal: AbortSignal.timeout(patienceMs),
  })
  holdContract(method, path, answer)
  if (answer.status >= 500) throw new Error(`${answer.status}: ${answer.text}`)
  return answer.status
}
