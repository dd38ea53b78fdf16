import test from 'ava'
import { workerPools } from '#shared/platform/jobs/job.ts'
import { chosenRoutes, isPart } from '#test/api/walk/chosen.ts'
import { addressOf, type Call, headersOf } from '#test/api/walk/example.ts'
import { examples } from '#test/api/walk/examples.ts'
import { namingCalls } from '#test/api/walk/naming-calls.ts'
import { namesNothing, positionsOf, sameFor } from '#test/api/walk/positions.ts'
import { snapshotOf } from '#test/api/walk/snapshot.ts'
import { fromAnywhere } from '#test/support/account.ts'
import { startAgent } from '#test/support/agent.ts'
import { createOrg } from '#test/support/factories.ts'
import { listening } from '#test/support/listening.ts'
import { addMember } from '#test/support/rows.ts'
import type { Answer } from '#test/support/send-request.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { type Place, settle } from '#test/support/things.ts'

// Without the pool of webhooks, whose tries change rows between two looks.
const pools = workerPools.filter((pool) => pool !== 'webhooks')
const start = shareWorld(test, async () => ({ TRUST_PROXY: '1', ...(await listening()), AGENT_URL: (await startAgent()).url }), { pools })

/** Two workspaces with equal content. The owner of the first may do everything in the second too: only the path decides where it acts. */
interface Two {
  readonly own: Place
  readonly other: Place
}
let two: Promise<Two> | undefined
let asked = 0

for (const { name } of chosenRoutes) {
  if (!name.includes('/:orgId')) continue
  test(`foreign ids: things of another workspace are not found: ${name}`, async (t) => {
    two ??= begin()
    const places = await two
    const example = examples[name]
    const own = example ? [(place: Place) => example.call(place, caller(place))] : []
    const calls = [...own, ...(namingCalls[name] ?? []), ...(example?.secondPage ? [example.secondPage] : [])]
    const leaks: string[] = []
    for (const call of calls) leaks.push(...(await leaksOf(name, places, await call(places.own), await call(places.other))))
    t.deepEqual(leaks, [])
  })
}

test('foreign ids: ids are in many places', (t) => {
  t.log(`${asked} places were asked for what another workspace has`)
  t.true(asked > 100 || isPart)
})

async function begin(): Promise<Two> {
  const world = await start()
  const [own, other] = [await settle(world, world.org), await settle(world, await createOrg(world, 'Acme'))]
  await addMember(world.db, other.org.id, own.org.ownerId)
  await other.things.hold(await other.things.role([{ effect: 'allow', actions: ['*'] }]), own.org.ownerId)
  return { own, other }
}

const caller = ({ org }: Place) => ({ id: org.ownerId, client: org.owner })

/**
 * Whatever a route reveals of the other workspace, or changes there, when its things are named. In the end the call with its own things
 * must succeed.
 */
async function leaksOf(route: string, { own, other }: Two, mine: Call, theirs: Call): Promise<string[]> {
  const leaks: string[] = []
  await own.world.drain()
  const before = await snapshotOf(other)
  for (const { name, foreign, put } of positionsOf(mine, theirs)) {
    asked += 1
    const nothing = namesNothing(foreign, other.mark)
    const [there, nowhere] = [await send(route, own, put(foreign)), await send(route, own, put(nothing))]
    const [seen, expected] = [said(there, foreign, other.mark), said(nowhere, nothing, other.mark)]
    if (seen !== expected) leaks.push(`${name}: ${seen} where what is nowhere has ${expected}`)
    if (there.text.includes(other.secret)) leaks.push(`${name}: it says what another workspace keeps: ${there.text}`)
  }
  await own.world.drain()
  const after = await snapshotOf(other)
  for (const [table, rows] of after) if (before.get(table) !== rows) leaks.push(`${table} of the other workspace has changed`)
  const { status, text } = await send(route, own, mine)
  if (status >= 300) leaks.push(`with its own things: ${status} ${text}`)
  if (text.includes(other.secret)) leaks.push(`with its own things it says what another workspace keeps: ${text}`)
  return leaks
}

const send = (route: string, { org }: Place, call: Call): Promise<Answer> =>
  org.owner.send(route.split(' ')[0] ?? '', addressOf(route, org.id, call), call.body, { ...headersOf(call), ...fromAnywhere() })

/** Suggestions for a misspelled key come from the caller's own keys and differ with the request. */
const advice = /; (?:did you mean [^?"]*\?|POST …\/types makes one)/g

const said = ({ status, text, headers }: Answer, sent: string, mark: string): string =>
  `${status} ${sameFor(text.replaceAll(advice, '').replaceAll(headers.get('x-request-id') ?? '', 'REQUEST'), sent, mark)}`
