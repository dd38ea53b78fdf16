import { randomUUID } from 'node:crypto'
import { type Callers, hidingPolicy, leastPolicy, otherKey, policiesNear, policiesShort } from '#test/api/walk/callers.ts'
import type { Call, Example } from '#test/api/walk/example.ts'
import type { Client } from '#test/support/client.ts'
import { createMember, createService } from '#test/support/factories.ts'
import type { Place } from '#test/support/things.ts'

/** One request of the walk and how it must be answered. */
export interface Step {
  readonly title: string
  readonly client: Client
  readonly call: Call
  /** Status and code, as in `403 FORBIDDEN`; `done` is what the route answers when all is well. */
  readonly expected: string
  /** What the message of a refusal has to name. */
  readonly names?: string
  /** The workspace in the path, where it is not the place's. */
  readonly orgId?: string
  /** What is not there: a name of the path, or the caller's workspace. What is absent, hidden and foreign must answer the same. */
  readonly missing?: string
}

const unauthorized = '401 UNAUTHORIZED'
const notFound = '404 NOT_FOUND'
const forbidden = '403 FORBIDDEN'
const invalid = '400 VALIDATION_ERROR'
const done = 'done'

/** The call with what nobody can read in place of its body or its query; none when the route has neither. */
export function brokenCalls({ badQuery, anyBody }: Example, call: Call): readonly Call[] {
  const brokenBody = call.body === undefined || anyBody ? [] : [{ ...call, body: '{', type: 'application/json' }]
  const brokenQuery = badQuery === undefined ? [] : [{ ...call, query: Object.fromEntries(new URLSearchParams(badQuery)) }]
  return [...brokenBody, ...brokenQuery]
}

const each = (title: string, clients: Readonly<Record<string, Client>>, calls: readonly Call[], expected: string): Step[] =>
  Object.entries(clients).flatMap(([who, client]) =>
    calls.map((call, index) => ({ title: `${title} ${who}${index > 0 ? ', broken' : ''}`, client, call, expected })),
  )

/** 401 for whoever is nobody, whatever else is wrong. */
export const nobodyEnters = ({ refused }: Callers, calls: readonly Call[]): Step[] => each('with', refused, calls, unauthorized)

/** 404 for those who are somebody elsewhere, and for a workspace that is none. */
export function strangersSeeNothing({ foreign }: Callers, { org }: Place, calls: readonly Call[]): Step[] {
  const nowhere = [randomUUID(), 'no-id', org.id.slice(1)].flatMap((orgId) =>
    each(`in workspace ${orgId}`, { owner: org.owner }, calls, notFound).map((step) => ({ ...step, orgId })),
  )
  return [...each('as', foreign, calls, notFound), ...nowhere].map((step) => ({ ...step, missing: 'workspace' }))
}

/** 403 that names the permission for those whose rules do not allow it, before anything of the body or query is looked at. */
export async function othersAreRefused({ bare }: Callers, place: Place, example: Example, call: Call): Promise<Step[]> {
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

/** 404 for each thing of the path that is not there, and where it is hidden; 400 for whoever may and sends what nobody can read. */
export async function theAbsentIsNotFound(place: Place, example: Example, call: Call): Promise<Step[]> {
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

/** Success for the least role, held by a member and by a service account. */
export async function theRightRoleEnters(place: Place, example: Example): Promise<Step[]> {
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

/** What everybody is answered while the workspace is suspended, or its app switched off. */
export function theClosedStaysClosed(callers: Callers, { org }: Place, calls: readonly Call[], expected: string): Step[] {
  const [nobody] = Object.entries(callers.refused)
  return [
    ...each('while closed,', { owner: org.owner }, calls, expected),
    ...each('while closed,', { 'a member without a role': callers.bare.member.client }, calls, expected),
    ...each('while closed,', Object.fromEntries(nobody ? [nobody] : []), calls, unauthorized),
    ...each('while closed,', callers.foreign, calls, notFound).map((step) => ({ ...step, missing: 'workspace' })),
  ]
}

/** 404 for everybody, whatever credentials they send, where a public route leads into a workspace that is closed. */
export function nobodySeesWhatIsClosed({ refused, foreign, bare }: Callers, call: Call): Step[] {
  return each('while closed, with', { ...refused, ...foreign, member: bare.member.client }, [call], notFound)
}

/** Success for every person, and for a key where the route is for both; 401 for a key that comes where only people may. */
export async function theSignedInEnter({ bare }: Callers, place: Place, example: Example): Promise<Step[]> {
  const [own, forKey] = [await example.call(place, bare.member), await example.call(place, bare.key)]
  const byKey = { title: 'with a key', client: bare.key.client, call: forKey, expected: example.needs === 'any' ? done : unauthorized }
  const broken = each('broken, as', { member: own.client ?? bare.member.client }, brokenCalls(example, own), invalid)
  return [byKey, ...broken, { title: 'as a person', client: bare.member.client, call: own, expected: done }]
}

/** Success for everybody, whatever credentials they send; 400 for what nobody can read. */
export async function anybodyEnters({ refused, foreign, bare }: Callers, place: Place, example: Example): Promise<Step[]> {
  const steps: Step[] = []
  for (const [who, client] of Object.entries({ ...refused, ...foreign, member: bare.member.client })) {
    const call = await example.call(place, bare.member)
    steps.push({ title: `with ${who}`, client, call, expected: done })
  }
  const broken = brokenCalls(example, await example.call(place, bare.member))
  return [...each('broken, as', refused, broken, invalid), ...steps]
}
