import type { ExecutionContext } from 'ava'
import type { Answer, Client } from '#test/support/client.ts'
import type { Org } from '#test/support/factories.ts'
import type { World } from '#test/support/world.ts'

/** A rule that allows these actions. */
export const allow = (...actions: string[]) => ({ effect: 'allow', actions })

/** Makes a function as the owner, with more of its settings where they are given, and returns it. */
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

/** Makes a function of this body, runs it once as the owner and returns what came of it. */
export async function runBody(t: ExecutionContext, org: Org, body: string, input?: unknown): Promise<Answer['data']> {
  return invoke(t, org, (await createFunction(t, org, handlerOf(body))).id, input)
}

/** Asks again until the answer is right; the test's own time limit bounds it. */
export async function until(isRight: () => Promise<boolean>): Promise<void> {
  while (!(await isRight())) await new Promise((resolve) => setTimeout(resolve, 10))
}

/** A record that lets runs go on which wait for it. */
export interface Latch {
  readonly id: string
  readonly open: () => Promise<void>
}

/** The start of a handler that says that it is there, as a location named `in`, and then waits for the latch whose id is `input.latch`. */
export const waitAtLatch = `
  await sdk.records.create('locations', { name: 'in', address: String(input.number) })
  while ((await sdk.records.get('locations', input.latch)).values.address !== 'open') await new Promise((resolve) => setTimeout(resolve, 10))`

export async function createLatch({ owner, path }: Org): Promise<Latch> {
  const { id } = (await owner.post(`${path}/records/locations`, { values: { name: 'latch' } })).data
  return { id, open: async () => void (await owner.put(`${path}/records/locations/${id}/values`, { values: { address: 'open' } })) }
}

/** The numbers that runs were given which are in, in the order in which they came. */
export async function whoIsIn({ owner, path }: Org): Promise<number[]> {
  const filter = encodeURIComponent(JSON.stringify([{ field: 'name', op: 'eq', value: 'in' }]))
  const { data } = await owner.get(`${path}/records/locations?filter=${filter}&limit=200&sort=created_at&dir=asc`)
  return data.records.map(({ values }: { values: { address: string } }) => Number(values.address))
}

/** How many calls of a workspace's functions have been let in, and how many wait. */
export async function lineOf({ db }: World, org: Org): Promise<{ readonly let: number; readonly waiting: number }> {
  const { rows } = await db.query(
    `select count(slot)::integer as let, count(*) filter (where slot is null)::integer as waiting from gated_jobs where workspace_id = $1`,
    [org.id],
  )
  return rows[0]
}
