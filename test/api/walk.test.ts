import test from 'ava'
import { sections } from '#api/routes.ts'
import { makeCallers } from '#test/api/walk/callers.ts'
import { examples } from '#test/api/walk/examples.ts'
import { planOf, type Stage, type Walk } from '#test/api/walk/plan.ts'
import { type Absences, surprisesOf } from '#test/api/walk/send.ts'
import { startAgent } from '#test/support/agent.ts'
import { listening } from '#test/support/listening.ts'
import { updateWorkspace } from '#test/support/rows.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { type Place, settle } from '#test/support/things.ts'

const start = shareWorld(test, async () => ({ TRUST_PROXY: '1', ...(await listening()), AGENT_URL: (await startAgent()).url }))
let walk: Promise<Walk> | undefined

for (const { base, routes } of sections) {
  for (const { method, path } of routes) {
    const route = `${method} ${base}${path}`
    // One after the other, since each suspends the workspace for a moment.
    test(`walk: permitted and refused callers of ${route}`, async (t) => {
      const example = examples[route]
      if (!example) return t.fail(`${route} has no example: write one below test/api/walk`)
      walk ??= begin()
      const stages = await planOf(route, example, await walk)
      const { place } = await walk
      const found: string[] = []
      const absences: Absences = new Map()
      for (const stage of stages) found.push(...(await during(place, stage, () => surprisesOf(route, place, stage.steps, absences))))
      t.deepEqual(found, [])
      for (const [what, told] of absences)
        t.true(told.size <= 1, `absent, hidden and foreign things get different responses for ${what}: ${[...told].join('\n')}`)
    })
  }
}

test('walk: every example belongs to a route', (t) => {
  const declared = new Set(sections.flatMap(({ base, routes }) => routes.map(({ method, path }) => `${method} ${base}${path}`)))
  t.deepEqual(
    Object.keys(examples).filter((name) => !declared.has(name)),
    [],
  )
})

async function begin(): Promise<Walk> {
  const world = await start()
  const place = await settle(world, world.org)
  return { place, callers: await makeCallers(place) }
}

/** Runs work while the workspace is in the stage's state. */
async function during<T>({ world, org }: Place, { state }: Stage, work: () => Promise<T>): Promise<T> {
  if (state === null) return work()
  const [set, reset] = state
  await updateWorkspace(world.db, org.id, set)
  try {
    return await work()
  } finally {
    await updateWorkspace(world.db, org.id, reset)
  }
}
