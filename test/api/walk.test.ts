import test from 'ava'
import { makeCallers } from '#test/api/walk/callers.ts'
import { chosenRoutes } from '#test/api/walk/chosen.ts'
import { makeClosedPlaces } from '#test/api/walk/closed.ts'
import { examples } from '#test/api/walk/examples.ts'
import { planOf, type Walk } from '#test/api/walk/plan.ts'
import { type Absences, surprisesOf } from '#test/api/walk/send.ts'
import { startAgent } from '#test/support/agent.ts'
import { listening } from '#test/support/listening.ts'
import { once } from '#test/support/once.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { settle } from '#test/support/things.ts'

const start = shareWorld(test, async () => ({ TRUST_PROXY: '1', ...(await listening()), AGENT_URL: (await startAgent()).url }))
const begin = once(async (): Promise<Walk> => {
  const world = await start()
  const place = await settle(world, world.org)
  const callers = await makeCallers(place)
  return { place, callers, closed: await makeClosedPlaces(world, callers) }
})

for (const { name } of chosenRoutes) {
  test(`walk: permitted and refused callers of ${name}`, async (t) => {
    const example = examples[name]
    if (!example) return t.fail(`${name} has no example: write one below test/api/walk`)
    const stages = await planOf(name, example, await begin())
    const found: string[] = []
    const absences: Absences = new Map()
    for (const { place, steps } of stages) found.push(...(await surprisesOf(name, place, steps, absences)))
    t.deepEqual(found, [])
    for (const [what, responses] of absences)
      t.true(responses.size <= 1, `absent, hidden and foreign things get different responses for ${what}: ${[...responses].join('\n')}`)
  })
}
