import { randomUUID } from 'node:crypto'
import { type Callers, otherKey } from '#test/api/walk/callers.ts'
import type { Call, Example } from '#test/api/walk/example.ts'
import { brokenCalls, type Step } from '#test/api/walk/steps.ts'
import type { Client } from '#test/support/client.ts'
import { type ConsoleVisit, createOperator, visitConsole } from '#test/support/operators.ts'
import type { Place } from '#test/support/things.ts'

/** Where the routes of operators are called, and by whom besides operators. */
interface Visit {
  readonly place: Place
  readonly callers: Callers
}

const unauthorized = '401 UNAUTHORIZED'
const forbidden = '403 FORBIDDEN'

/**
 * The steps for a route of operators below `/v1`: 401 for invalid credentials, keys and the cookie of the console, 403 for people who are no
 * operators, and for read-only ones where the route changes something.
 */
export async function operateByToken(route: string, example: Example, { place, callers }: Visit): Promise<Step[]> {
  const { world, org } = place
  const [acting, readOnly, removed] = [await createOperator(world), await createOperator(world, true), await createOperator(world)]
  const first = await makeCall(example, place)
  await removed.client.get('/v1/operator/log')
  await world.db.query('delete from operators where user_id = $1', [removed.id])
  const { headers } = await visitConsole(world, acting.id)
  const calls = [first, ...brokenCalls(example, first)]
  const refuse = (title: string, client: Client, expected: string, sent = calls): Step[] =>
    sent.map((call) => ({ title, client, call, expected }))
  const missing = Object.keys(first.params ?? {}).flatMap((name) =>
    [randomUUID(), otherKey].map((value) => ({
      title: `with ${name} ${value}`,
      client: acting.client,
      call: { ...first, params: { ...first.params, [name]: value } },
      expected: '404 NOT_FOUND',
      missing: name,
    })),
  )
  return [
    ...Object.entries(callers.refused).flatMap(([who, client]) => refuse(`with ${who}`, client, unauthorized)),
    ...refuse('with a key', callers.bare.key.client, unauthorized),
    ...Object.entries(callers.foreign).flatMap(([who, client]) =>
      refuse(`as ${who}`, client, who.includes('key') ? unauthorized : forbidden),
    ),
    ...refuse('as a member', callers.bare.member.client, forbidden),
    ...refuse('as an owner', org.owner, forbidden),
    ...refuse('as a removed operator', removed.client, forbidden),
    ...refuse(
      'with the cookie of the console',
      world.visitor,
      unauthorized,
      calls.map((call) => ({ ...call, headers: { ...call.headers, ...headers } })),
    ),
    ...missing,
    ...refuse('broken', acting.client, '400 VALIDATION_ERROR', calls.slice(1)),
    ...(route.startsWith('GET ')
      ? [{ title: 'as a read-only operator', client: readOnly.client, call: first, expected: 'done' }]
      : refuse('as a read-only operator', readOnly.client, forbidden)),
    { title: 'as an operator', client: acting.client, call: first, expected: 'done' },
  ]
}

/**
 * The steps for a page of the console: 401 without its cookie, whatever else proves the caller, 403 for what no page of the session has sent, and
 * for read-only operators where the page changes something.
 */
export async function operateByCookie(route: string, example: Example, { place, callers }: Visit): Promise<Step[]> {
  const { world, org } = place
  const [acting, readOnly, removed] = [await createOperator(world), await createOperator(world, true), await createOperator(world)]
  const call = await makeCall(example, place)
  const [own, reader, expired, orphaned] = [
    await visitConsole(world, acting.id),
    await visitConsole(world, readOnly.id),
    await visitConsole(world, acting.id, -1),
    await visitConsole(world, removed.id),
  ]
  await world.db.query('delete from operators where user_id = $1', [removed.id])
  const isPost = route.startsWith('POST ')
  /** The call as a page of this session sends it. */
  const from = ({ headers, formToken }: ConsoleVisit, sent = headers, token = formToken): Call => ({
    ...call,
    headers: { ...call.headers, ...sent },
    ...(isPost ? { type: 'application/x-www-form-urlencoded', body: withToken(call.body, token) } : {}),
  })
  const step = (title: string, sent: Call, expected: string, client = world.visitor): Step => ({ title, client, call: sent, expected })
  const { cookie, origin } = own.headers
  const withoutOrigin = { ...from(own), headers: { cookie } }
  const missing = Object.keys(call.params ?? {}).flatMap((name) =>
    [randomUUID(), otherKey].map((value) => ({
      ...step(`with ${name} ${value}`, { ...from(own), params: { ...call.params, [name]: value } }, '404 NOT_FOUND'),
      missing: name,
    })),
  )
  const broken = example.badQuery ? [{ ...from(own), query: Object.fromEntries(new URLSearchParams(example.badQuery)) }] : []
  const forged = [
    step('without an origin', withoutOrigin, forbidden),
    step('with a foreign origin', from(own, { cookie, origin: 'https://other.example' }), forbidden),
    step('without a form token', from(own, own.headers, ''), forbidden),
    step('with a forged form token', from(own, own.headers, `${own.formToken.slice(0, -2)}AA`), forbidden),
    step('with the form token of another session', from(own, own.headers, reader.formToken), forbidden),
    step('as a read-only operator', from(reader), forbidden),
  ]
  const strangers = { ...callers.refused, ...callers.foreign, ...{ member: callers.bare.member.client, key: callers.bare.key.client } }
  return [
    ...Object.entries({ ...strangers, owner: org.owner, 'an operator’s token': acting.client }).map(([who, client]) =>
      step(`with ${who}`, from(own, { cookie: 'other=1', origin }), unauthorized, client),
    ),
    step('with an unknown cookie', from(own, { cookie: `${cookie}x`, origin }), unauthorized),
    step('with an expired session', from(expired), unauthorized),
    step('with the session of a removed operator', from(orphaned), unauthorized),
    ...missing,
    ...(isPost ? forged : [step('as a read-only operator', from(reader), 'done')]),
    ...broken.map((sent) => step('broken', sent, '400 VALIDATION_ERROR')),
    step('as an operator', from(own), 'done'),
  ]
}

/** The fields of a form with this form token. */
function withToken(body: unknown, token: string): string {
  const fields = new URLSearchParams(String(body ?? ''))
  fields.set('form_token', token)
  return fields.toString()
}

/** The example's call, for whatever caller the walk chooses. */
async function makeCall(example: Example, place: Place): Promise<Call> {
  const { client: _, ...call } = await example.call(place, { id: place.org.ownerId, client: place.org.owner })
  return call
}
