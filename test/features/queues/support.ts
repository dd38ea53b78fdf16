import type { ExecutionContext } from 'ava'
import type { ItemView } from '#shared/features/queues/items/schemas.ts'
import type { Client } from '#test/support/client.ts'
import type { Org } from '#test/support/factories.ts'

/** A queue of a test, and the calls that a station makes. */
export interface Line {
  readonly id: string
  readonly key: string
  /** `/v1/orgs/{org}/queues/{id}`. */
  readonly path: string
  readonly add: (items: readonly (string | object)[], more?: object) => Promise<string[]>
  readonly move: (itemId: string, to: string, more?: object, client?: Client) => Promise<Awaited<ReturnType<Client['post']>>>
  readonly scan: (key: string, more?: object, client?: Client) => Promise<Awaited<ReturnType<Client['post']>>>
  readonly claim: (more?: object, client?: Client) => Promise<(ItemView & { claim_token: string })[]>
  readonly item: (itemId: string) => Promise<ItemView>
  readonly kinds: (itemId: string) => Promise<string[]>
  readonly summary: (batch?: string) => Promise<Record<string, number> & { by_stage: Record<string, number> }>
}

/** Three stages: start, work and a terminal end. */
export const plainStages = [
  { key: 'in', label: 'In', kind: 'start' },
  { key: 'work', label: 'Work' },
  { key: 'out', label: 'Out', kind: 'terminal' },
]

/** Creates a queue with these stages and other properties of a definition. */
export async function createLine(
  t: ExecutionContext,
  { owner, path: org }: Pick<Org, 'owner' | 'path'>,
  definition: object = {},
  key = 'line',
): Promise<Line> {
  const made = await owner.post(`${org}/queues`, { key, name: key, stages: plainStages, ...definition })
  t.is(made.status, 201, made.text)
  return lineOf(t, owner, org, made.data.id, key)
}

/** The same calls for an existing queue. */
export function lineOf(t: ExecutionContext, owner: Client, org: string, id: string, key: string): Line {
  const path = `${org}/queues/${id}`
  const read = async (route: string) => {
    const answer = await owner.get(`${path}${route}`)
    t.is(answer.status, 200, answer.text)
    return answer.data
  }
  return {
    id,
    key,
    path,
    add: async (items, more = {}) => {
      const body = { items: items.map((item) => (typeof item === 'string' ? { key: item } : item)), ...more }
      const added = await owner.post(`${path}/items`, body)
      t.is(added.status, 201, added.text)
      return added.data.items.map((item: { id: string }) => item.id)
    },
    move: (itemId, to, more = {}, client = owner) => client.post(`${path}/items/${itemId}/move`, { to_stage: to, ...more }),
    scan: (key, more = {}, client = owner) => client.post(`${path}/scan`, { key, ...more }),
    claim: async (more = {}, client = owner) => {
      const claimed = await client.post(`${path}/claim`, more)
      t.is(claimed.status, 200, claimed.text)
      t.is(claimed.data.claimed, claimed.data.items.length)
      return claimed.data.items
    },
    item: (itemId) => read(`/items/${itemId}`),
    kinds: async (itemId) => (await read(`/events?item_id=${itemId}`)).map(({ kind }: { kind: string }) => kind).reverse(),
    summary: async (batch) => (await read(`/summary${batch === undefined ? '' : `?batch=${encodeURIComponent(batch)}`}`)).summary,
  }
}

/** Checks by `verify` that the queue agrees with its history. */
export async function proven(t: ExecutionContext, owner: Client, line: Pick<Line, 'path'>): Promise<void> {
  const verified = await owner.get(`${line.path}/verify`)
  t.is(verified.status, 200, verified.text)
  t.deepEqual(verified.data.differences, [])
  t.true(verified.data.ok)
  t.is(verified.data.added - verified.data.deleted, verified.data.open + verified.data.closed)
}
