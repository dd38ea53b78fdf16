import type { ExecutionContext } from 'ava'
import type { Client } from '#test/support/client.ts'
import type { Org } from '#test/support/factories.ts'
import type { Answer } from '#test/support/send-request.ts'

/** A rule that allows these actions. */
export const allow = (...actions: string[]) => ({ effect: 'allow', actions })

/** Creates a function as the owner, with these settings, and returns it. */
export async function createFunction(t: ExecutionContext, org: Org, source: string, settings: object = {}): Promise<Answer['data']> {
  const made = await org.owner.post(`${org.path}/functions`, { name: 'Test', source, timeout_ms: 30_000, ...settings })
  t.is(made.status, 201, made.text)
  return made.data
}

/** A function whose handler has this body. */
export const handlerOf = (body: string): string => `async function handler(input) { ${body} }`

/** Invokes a function as a caller, the owner unless it is another, and returns the result of the run. */
export async function invoke(
  t: ExecutionContext,
  org: Org,
  id: string,
  input?: unknown,
  client: Client = org.owner,
): Promise<Answer['data']> {
  const answer = await client.post(`${org.path}/functions/${id}/invoke`, { input })
  t.is(answer.status, 200, answer.text)
  return answer.data
}

/** Creates a function with this body, runs it once as the owner, and returns the run. */
export async function runBody(t: ExecutionContext, org: Org, body: string, input?: unknown): Promise<Answer['data']> {
  return invoke(t, org, (await createFunction(t, org, handlerOf(body))).id, input)
}

/** A record that runs wait for until it is opened. */
export interface Latch {
  readonly id: string
  readonly open: () => Promise<void>
}

/** The start of a handler: creates a location named `in` to show that it has started, then waits for the latch with the id `input.latch`. */
export const waitAtLatch = `
  await sdk.records.create('locations', { name: 'in', address: String(input.number) })
  while ((await sdk.records.get('locations', input.latch)).values.address !== 'open') await new Promise((resolve) => setTimeout(resolve, 10))`

/** Creates a latch that is closed. */
export async function createLatch({ owner, path }: Org): Promise<Latch> {
  const { id } = (await owner.post(`${path}/records/locations`, { values: { name: 'latch' } })).data
  return { id, open: async () => void (await owner.put(`${path}/records/locations/${id}/values`, { values: { address: 'open' } })) }
}

/** The numbers of the runs that have started by `waitAtLatch`, in the order of their start. */
export async function listStarted({ owner, path }: Org): Promise<number[]> {
  const filter = encodeURIComponent(JSON.stringify([{ field: 'name', op: 'eq', value: 'in' }]))
  const { data } = await owner.get(`${path}/records/locations?filter=${filter}&limit=200&sort=created_at&dir=asc`)
  return data.records.map(({ values }: { values: { address: string } }) => Number(values.address))
}
