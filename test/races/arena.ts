import type { TestFn } from 'ava'
import { startApiProcess } from '#test/support/api-process.ts'
import type { Client } from '#test/support/client.ts'
import { times } from '#test/support/depth.ts'
import { createOrg, type Org } from '#test/support/factories.ts'
import type { Answer } from '#test/support/send-request.ts'
import { shareInThread } from '#test/support/share-in-thread.ts'
import { type World, world } from '#test/support/world.ts'

type Environment = Readonly<Record<string, string>>
type Opened = { readonly world: World; readonly second: Client }

/** Repetitions of a race: all callers start at once, and there is one right outcome. */
export const rounds = times(4, 20)

/** The same caller at each of the two API processes. */
export type Pair = readonly [Client, Client]

/** A workspace of the test, with its owner at both processes. */
export interface Ring extends Org {
  readonly owners: Pair
}

/** A world with a second API process on its database, in which the tests of a file race, one after the other. */
export interface Arena {
  /** Opens the world, as `ring` does. */
  readonly open: () => Promise<void>
  /** The world, once it is open. */
  readonly world: () => World
  readonly ring: (plan?: 'paid' | 'free') => Promise<Ring>
  /** This caller at both processes. */
  readonly pair: (caller: Client) => Pair
}

/**
 * An arena, which its first test opens; both processes start with this environment. Other files of the thread share it, unless the file
 * asks for its own, to count events of the whole database.
 */
export function openArena(test: TestFn, environment: Environment | (() => Promise<Environment>) = {}, own = ''): Arena {
  let opened: Opened | undefined
  const key = typeof environment === 'function' ? undefined : `arena ${own} ${JSON.stringify(environment)}`
  const start = () => startArena(environment)
  const shared = shareInThread(test, start, key)
  const open = async () => {
    opened ??= await shared()
  }
  const here = () => {
    if (!opened) throw new Error('The arena is not open: call open or ring first')
    return opened
  }
  const pair = (caller: Client): Pair => [caller, here().second.as(caller.token)]
  const ring = async (plan: 'paid' | 'free' = 'paid'): Promise<Ring> => {
    await open()
    const org = await createOrg(here().world, 'Ring', plan)
    return { ...org, owners: pair(org.owner) }
  }
  return { open, world: () => here().world, ring, pair }
}

async function startArena(environment: Environment | (() => Promise<Environment>)) {
  const settings = typeof environment === 'function' ? await environment() : environment
  const one = await world(settings)
  const ends: (() => unknown)[] = [one.close]
  const second = await startApiProcess({ teardown: (end) => ends.push(end) }, one, settings)
  const close = async () => {
    for (const end of ends.reverse()) await end()
  }
  return { value: { world: one, second }, close }
}

/** Makes so many calls at once, alternately at both processes. */
export const atOnce = <T>(count: number, [one, other]: Pair, call: (client: Client, index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => call(index % 2 === 0 ? one : other, index)))

/** The number of responses by status. */
export function tally(answers: readonly Pick<Answer, 'status'>[]): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

/** The data of a created thing; throws the response of a failure. */
export async function made(answer: Promise<Answer>): Promise<Answer['data']> {
  const { status, text, data } = await answer
  if (status >= 300) throw new Error(`It could not be made: ${status} ${text}`)
  return data
}

/** Creates a type with these fields, strings by default, and returns the path of its records and the ids of the fields by key. */
export async function makeType({ owner, path }: Org, key: string, fields: Readonly<Record<string, object>>) {
  await made(owner.post(`${path}/types`, { key, label: key }))
  const ids: Record<string, string> = {}
  for (const [field, more] of Object.entries(fields)) {
    ids[field] = (await made(owner.post(`${path}/fields`, { entity_type: key, key: field, label: field, type: 'string', ...more }))).id
  }
  return { records: `${path}/records/${key}`, fields: ids }
}

/** The number of records that match a search, given as a query string. */
export const totalOf = async ({ owner }: Org, records: string, search = 'offset=0'): Promise<number> =>
  (await made(owner.get(`${records}?${search}&limit=1`))).total
