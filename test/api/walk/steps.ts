import { randomUUID } from 'node:crypto'
import { type Callers, hidingPolicy, leastPolicy, otherKey, policiesNear, policiesShort } from '#test/api/walk/callers.ts'
import type { Call, Example } from '#test/api/walk/example.ts'
import type { Client } from '#test/support/client.ts'
import { createMember, createService } from '#test/support/factories.ts'
import type { Place } from '#test/support/things.ts'

/** A request of the walk and its expected response. */
export interface Step {
  readonly title: string
  readonly client: Client
  readonly call: Call
  /** Status and code, as in `403 FORBIDDEN`; `done` is the route's success. */
  readonly expected: string
  /** Text that the message of a refusal must contain. */
  readonly names?: string
  /** The workspace in the path, if it is not the place's. */
  readonly orgId?: string
  /** The missing thing: a name of the path, or the caller's workspace. Absent, hidden and foreign things must get the same response. */
  readonly missing?: string
}

const unauthorized = '401 UNAUTHORIZED'
const notFound = '404 NOT_FOUND'
const forbidden = '403 FORBIDDEN'
const invalid = '400 VALIDATION_ERROR'
const done = 'done'

/** The call with an unreadable body or query; none when the route has neither. */
export function brokenCalls({ badQuery, anyBody }: Example, call: Call): readonly Call[] {
  const brokenBody = call.body === undefined || anyBody ? [] : [{ ...call, body: '{', type: 'application/json' }]
  const brokenQuery = badQuery === undefined ? [] : [{ ...call, query: Object.fromEntries(new URLSearchParams(badQuery)) }]
  return [...brokenBody, ...brokenQuery]
}

const each = (title: string, clients: Readonly<Record<string, Client>>, calls: readonly Call[], expected: string): Step[] =>
  Object.entries(clients).flatMap(([who, client]) =>
    calls.map((call, index) => ({ title: `${title} ${who}${index > 0 ? ', broken' : ''}`, client, call, expected })),
  )

/** 401 for invalid credentials, whatever else is wrong. */
export const requireCredentials = ({ refused }: Callers, calls: readonly Call[]): Step[] => each('with', refused, calls, unauthorized)

/** 404 for callers of other workspaces, and for an unknown workspace. */
export function hideFromForeignCallers({ foreign }: Callers, { org }: Place, calls: readonly Call[]): Step[] {
  const nowhere = [randomUUID(), 'no-id', org.id.slice(1)].flatMap((orgId) =>
    each(`in workspace ${orgId}`, { owner: org.owner }, calls, notFound).map((step) => ({ ...step, orgId })),
  )
  return [...each('as', foreign, calls, notFound), ...nowhere].map((step) => ({ ...step, missing: 'workspace' }))
}

/** 403 that names the permission for callers without it, before the body or query is read. */
export async function requirePermission({ bare }: Callers, place: Place, example: Example, call: Call): Promise<Step[]> {
  const calls = [call, ...brokenCalls(example, call)]
  const steps = each('without a role,', { member: bare.member.client, key: bare.key.client }, calls, forbidden)
  for (const [title, policy] of Object.entries(policiesNear(example, call, place))) {
    const { client } = await createMember(place.world, place.org, policy)
    steps.push(...each('with', { [title]: client }, example.keyInside && title.endsWith('key') ? [call] : calls, forbidden))
  }
  const own: Step[] = steps.map((step) => ({ ...step, names: example.needs }))
  for (const [needs, policy] of Object.entries(policiesShort(example))) {
    const { client } = await createMember(place.world, place.org, policy)
    own.push({ title: `without ${needs}`, client, call, expected: forbidden, names: needs })
  }
  return own
}

/** 404 for each absent or hidden thing of the path; 400 for a permitted caller that sends an unreadable body or query. */
export async function checkMissingThings(place: Place, example: Example, call: Call): Promise<Step[]> {
  const { world, org } = place
  const names = example.makesNamed ? [] : Object.keys(call.params ?? {})
  const absent = names.flatMap((name) =>
    [randomUUID(), otherKey].flatMap((value) => {
      const missing = { ...call, params: { ...call.params, [name]: value } }
      const expected = value === otherKey && example.ids?.includes(name) ? invalid : notFound
      return each(`with ${name} ${value},`, { owner: org.owner }, [missing], expected).map((step) => ({ ...step, missing: name }))
    }),
  )
  const hidden = names.includes('recordId')
    ? each('that is hidden from', { member: (await createMember(world, org, hidingPolicy(example))).client }, [call], notFound).map(
        (step) => ({
          ...step,
          missing: 'recordId',
        }),
      )
    : []
  return [...absent, ...hidden, ...each('broken, as', { owner: org.owner }, brokenCalls(example, call), invalid)]
}

/** Success for the smallest role of a member and of a service account. */
export async function admitSmallestRole(place: Place, example: Example): Promise<Step[]> {
  const { world, org } = place
  const admitted = []
  for (const create of example.peopleOnly ? [createMember] : [createMember, createService]) {
    const caller = await create(world, org, [])
    const call = await example.call(place, caller)
    const policy = example.needs === 'member' ? [] : leastPolicy(example, call, place)
    if (policy.length > 0) await place.things.hold(await place.things.role(policy), caller.id)
    admitted.push({ title: `with the least role, ${create.name}`, client: caller.client, call, expected: done })
  }
  return admitted
}

/** The responses to all callers while the workspace is suspended or its app disabled. */
export function refuseWhileClosed(callers: Callers, { org }: Place, calls: readonly Call[], expected: string): Step[] {
  const [nobody] = Object.entries(callers.refused)
  return [
    ...each('while closed,', { owner: org.owner }, calls, expected),
    ...each('while closed,', { 'a member without a role': callers.bare.member.client }, calls, expected),
    ...each('while closed,', Object.fromEntries(nobody ? [nobody] : []), calls, unauthorized),
    ...each('while closed,', callers.foreign, calls, notFound).map((step) => ({ ...step, missing: 'workspace' })),
  ]
}

/** 404 for every caller of a public route of a closed workspace, whatever its credentials. */
export function hideClosedPlaces({ refused, foreign, bare }: Callers, call: Call): Step[] {
  return each('while closed, with', { ...refused, ...foreign, member: bare.member.client }, [call], notFound)
}

/** Success for every person, and for a key where the route accepts both; 401 for a key where only people are accepted. */
export async function admitSignedIn({ bare }: Callers, place: Place, example: Example): Promise<Step[]> {
  const [own, forKey] = [await example.call(place, bare.member), await example.call(place, bare.key)]
  const byKey = { title: 'with a key', client: bare.key.client, call: forKey, expected: example.needs === 'any' ? done : unauthorized }
  const broken = each('broken, as', { member: own.client ?? bare.member.client }, brokenCalls(example, own), invalid)
  return [byKey, ...broken, { title: 'as a person', client: bare.member.client, call: own, expected: done }]
}

/** Success for all callers with any credentials; 400 for an unreadable body or query. */
export async function admitEveryone({ refused, foreign, bare }: Callers, place: Place, example: Example): Promise<Step[]> {
  const steps: Step[] = []
  for (const [who, client] of Object.entries({ ...refused, ...foreign, member: bare.member.client })) {
    const call = await example.call(place, bare.member)
    steps.push({ title: `with ${who}`, client, call, expected: done })
  }
  const broken = brokenCalls(example, await example.call(place, bare.member))
  return [...each('broken, as', refused, broken, invalid), ...steps]
}
