import { randomUUID } from 'node:crypto'
import { makeToken } from '#shared/core/people/tokens.ts'
import { permissions } from '#shared/core/policy/permissions.ts'
import type { Call, Example } from '#test/api/walk/example.ts'
import type { Client } from '#test/support/client.ts'
import { type Caller, createMember, createOrg, createPerson, createService } from '#test/support/factories.ts'
import type { Place } from '#test/support/things.ts'

/** Callers that are the same for every route. */
export interface Callers {
  /** Clients with invalid credentials, by what is wrong with them. */
  readonly refused: Readonly<Record<string, Client>>
  /** Clients that may do everything in another workspace. */
  readonly foreign: Readonly<Record<string, Client>>
  /** A member and a service account without any role. */
  readonly bare: Readonly<Record<'member' | 'key', Caller>>
}

const everything = [{ effect: 'allow', actions: ['*'] }]

/** Makes them. Revoked keys and ended sessions worked before. */
export async function makeCallers({ world, org }: Place): Promise<Callers> {
  const { visitor, db } = world
  const [expiredKey, revokedKey, ofNoAccount] = [
    await createService(world, org, everything),
    await createService(world, org, everything),
    await createService(world, org, everything),
  ]
  const [expiredSession, endedSession, gone] = [
    await createPerson(world, 'Erna Expired'),
    await createPerson(world, 'Ede Ended'),
    await createPerson(world, 'Gus Gone'),
  ]
  // The expired session is not used before, since use would renew it.
  for (const { client } of [expiredKey, revokedKey, ofNoAccount, endedSession, gone]) await client.get('/v1/auth/me')
  await db.query(`update access_keys set expires_at = now() where service_account_id = $1`, [expiredKey.id])
  await db.query('delete from access_keys where service_account_id = $1', [revokedKey.id])
  await db.query('delete from service_accounts where id = $1', [ofNoAccount.id])
  await db.query('update sessions set expires_at = now() where user_id = $1', [expiredSession.id])
  await db.query('delete from sessions where user_id = $1', [endedSession.id])
  await db.query('delete from users where id = $1', [gone.id])
  const other = await createOrg(world, 'Another')
  return {
    refused: {
      'no key': visitor,
      'no token at all': visitor.as('no-token'),
      'a key that was never made': visitor.as(makeToken('key', org.id).text),
      'a session that was never made': visitor.as(makeToken('session', org.ownerId).text),
      'a key of no workspace': visitor.as(makeToken('key', randomUUID()).text),
      'an expired key': expiredKey.client,
      'a revoked key': revokedKey.client,
      'a key of a deleted account': ofNoAccount.client,
      'an expired session': expiredSession.client,
      'an ended session': endedSession.client,
      'a session of nobody': gone.client,
    },
    foreign: {
      'the owner of another workspace': other.owner,
      'a key of another workspace': (await createService(world, other, everything)).client,
    },
    bare: { member: await createMember(world, org), key: await createService(world, org) },
  }
}

/** A key that no type, function or anything else of a workspace has. */
export const otherKey = 'nothing_of_this_name'

/** Policies of members that nearly admit to a route, or admit without finding anything. */
export function policiesNear({ needs, also = [], on }: Example, call: Call, place: Place): Readonly<Record<string, readonly object[]>> {
  const others = permissions.filter((permission) => permission !== needs)
  const resources = on ? [on(call, place)] : []
  return {
    'every permission but this': [{ effect: 'allow', actions: others }],
    'a deny rule beside everything': [...everything, { effect: 'deny', actions: [needs] }],
    ...(on
      ? {
          'the permission for another key': [{ effect: 'allow', actions: [needs, ...also], resources: [otherKey] }],
          'a deny rule for this key': [...everything, { effect: 'deny', actions: [needs], resources }],
        }
      : {}),
  }
}

/** The smallest policy that admits to a route: its permission, for its key only. */
export const leastPolicy = ({ needs, also = [], on, further = [] }: Example, call: Call, place: Place): readonly object[] => [
  { effect: 'allow', actions: [needs, ...also], ...(on ? { resources: [on(call, place)] } : {}) },
  ...further.map((one) => ({ effect: 'allow', actions: [one.needs], resources: [one.on(call, place)] })),
]

/** For a route with several permissions: policies that lack one of the further ones, by its name. */
export function policiesShort(example: Example): Readonly<Record<string, readonly object[]>> {
  return Object.fromEntries((example.further ?? []).map(({ needs }) => [needs, [...everything, { effect: 'deny', actions: [needs] }]]))
}

/** The same with a condition that no record meets. */
export const hidingPolicy = ({ needs, also = [] }: Example): readonly object[] => [
  { effect: 'allow', actions: [needs, ...also], condition: { 'resource.id': { eq: randomUUID() } } },
]
