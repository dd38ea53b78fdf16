import test from 'ava'
import { rowParametersOf } from '#shared/platform/kernel/cursor.ts'
import { chosenRoutes, isPart } from '#test/api/walk/chosen.ts'
import { addressOf, type Call } from '#test/api/walk/example.ts'
import { examples } from '#test/api/walk/examples.ts'
import { otherParameters, otherPaths } from '#test/api/walk/other-rows.ts'
import { startAgent } from '#test/support/agent.ts'
import { createOrg } from '#test/support/factories.ts'
import { listening } from '#test/support/listening.ts'
import { once } from '#test/support/once.ts'
import { addMember } from '#test/support/rows.ts'
import { startSecondApi } from '#test/support/second-api.ts'
import type { Answer } from '#test/support/send-request.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { type Place, settle } from '#test/support/things.ts'

const start = shareWorld(test, async () => ({ TRUST_PROXY: '1', ...(await listening()), AGENT_URL: (await startAgent()).url }))

/** Two workspaces of one owner. */
const begin = once(async () => {
  const world = await start()
  const [own, other] = [await settle(world, world.org), await settle(world, await createOrg(world, 'Acme'))]
  await addMember(world.db, other.org.id, own.org.ownerId)
  await other.things.hold(await other.things.role([{ effect: 'allow', actions: ['*'] }]), own.org.ownerId)
  return { world, own, other }
})

// The links of pages are tested with the pages.
const schemas = new Map<string, { readonly properties?: object }>(
  chosenRoutes.filter(({ route }) => route.kind !== 'page').map(({ name, route }) => [name, route.query?.json ?? {}] as const),
)
const lists = [...schemas.keys()].filter((route) => 'cursor' in (schemas.get(route)?.properties ?? {}))

/** A call for the second page of a list, made from fresh things. */
async function secondPage(route: string, place: Place): Promise<Call & { query: Record<string, string> }> {
  const call = await examples[route]?.secondPage?.(place)
  if (!call?.query.cursor) throw new Error(`${route} has no call with a cursor: give its example a secondPage`)
  return { ...call, query: { ...call.query } }
}

const send = (route: string, { org }: Place, call: Call): Promise<Answer> => (call.client ?? org.owner).get(addressOf(route, org.id, call))
const withQuery = (call: Call, query: Readonly<Record<string, string>>): Call => ({ ...call, query: { ...call.query, ...query } })

/** Texts that differ from a cursor in one place or in length. */
function damagedCopies(cursor: string): string[] {
  const flip = (at: number) => `${cursor.slice(0, at)}${/a/i.test(cursor[at] ?? '') ? 'B' : 'A'}${cursor.slice(at + 1)}`
  const places = [0, 0.2, 0.4, 0.6, 0.8].map((part) => Math.floor(part * cursor.length))
  return [
    ...places.map(flip),
    flip(cursor.length - 1),
    cursor.slice(0, -1),
    cursor.slice(4),
    cursor.slice(0, 22),
    `${cursor}A`,
    `${cursor}=`,
    `${cursor}.`,
    '',
  ]
}

for (const route of lists) {
  test(`cursors: only the one that a page gave, with the same query, leads on: ${route}`, async (t) => {
    const { own, other } = await begin()
    const call = await secondPage(route, own)
    const { cursor = '' } = call.query
    const taken = async (limit: string) => t.is((await send(route, own, withQuery(call, { limit }))).status, 200, `limit ${limit}`)
    const refused = async (what: string, place: Place, changed: Call) => {
      const { status, body, text } = await send(route, place, changed)
      t.true(
        status === 400 && body.error.code === 'VALIDATION_ERROR' && body.error.message.startsWith('cursor '),
        `${what}: ${status} ${text}`,
      )
    }
    for (const limit of ['1', '2', '100']) await taken(limit)
    if ('fields' in (schemas.get(route)?.properties ?? {}))
      t.is((await send(route, own, withQuery(call, { fields: own.keys.name }))).status, 200)
    for (const damaged of damagedCopies(cursor)) await refused(`damaged to ${damaged}`, own, withQuery(call, { cursor: damaged }))
    const elsewhere = await secondPage(route, other)
    if (route.includes('/:orgId')) await refused('in another workspace', other, withQuery(elsewhere, { cursor }))
    if (call.params) await refused('with another id in the path', own, { ...call, params: await otherPaths(own, call.params) })
    const names = rowParametersOf(schemas.get(route)?.properties ?? {}).map(([name]) => name)
    for (const name of names) await refused(`with another ${name}`, own, withQuery(call, await otherParameters(own, name, route)))
    await taken('1')
  })
}

test('cursors: one of a list leads on at every API process, and nowhere in any other list', async (t) => {
  const { own, world } = await begin()
  const calls: [string, Call & { query: Record<string, string> }][] = []
  for (const route of lists) calls.push([route, await secondPage(route, own)])
  const elsewhere = await startSecondApi(t, { ...world, config: { ...world.config, port: 0 } })
  for (const [route, call] of calls) {
    const { status } = await elsewhere.as((call.client ?? own.org.owner).token).get(addressOf(route, own.org.id, call))
    t.is(status, 200, route)
  }
  const taken: string[] = []
  for (const [route, call] of calls)
    for (const [from, { query }] of calls) {
      if (from === route) continue
      const { status } = await send(route, own, withQuery(call, { cursor: query.cursor ?? '' }))
      if (status !== 400) taken.push(`${from} at ${route}: ${status}`)
    }
  t.deepEqual(taken, [])
  t.true(calls.length > 15 || isPart)
})
