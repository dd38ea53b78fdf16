import test from 'ava'
import fc from 'fast-check'
import type { Route } from '#api/http/route.ts'
import { sections } from '#api/routes.ts'
import { furnish, type Place } from '#test/api/fuzz/place.ts'
import { requestsTo, send } from '#test/api/fuzz/request.ts'
import { startAgent } from '#test/support/agent.ts'
import { times } from '#test/support/depth.ts'
import { listening } from '#test/support/listening.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

/** Requests to each route. FUZZ_RUNS sets their number and FUZZ_SEED repeats an earlier run. */
const runs = Number(process.env.FUZZ_RUNS ?? times(6, 24))
const seed = Number(process.env.FUZZ_SEED ?? (process.env.CI ? 1 : Date.now() % 2 ** 31))
const start = shareWorld(test, async () => ({ TRUST_PROXY: '1', ...(await listening()), AGENT_URL: (await startAgent()).url }))
const statuses: number[] = []

const all = sections.flatMap(({ base, routes }) => routes.map((route) => ({ base, route })))
const [reading, changing] = [true, false].map((reads) => all.filter(({ route }) => (route.method === 'GET') === reads))
let shared: Promise<Place> | undefined

/** Routes that only read share one place, since they do not change it. */
function placeFor(w: World, route: Route): Promise<Place> {
  if (route.method !== 'GET') return furnish(w, [route])
  shared ??= furnish(
    w,
    (reading ?? []).map((one) => one.route),
  )
  return shared
}

for (const { base, route } of [...(reading ?? []), ...(changing ?? [])]) {
  // One after the other, so that a seed makes the same requests in the same order.
  test(`fuzz: every request gets a documented response: ${route.method} ${base}${route.path}`, async (t) => {
    const w = await start()
    const { token, namesIn } = await placeFor(w, route)
    const property = fc.asyncProperty(requestsTo(route, base, token, await namesIn(route.path)), async (sent) => {
      const status = await send(w.visitor.root, route, sent)
      // The callers are no operators.
      if (route.permission !== 'operator') statuses.push(status)
    })
    await fc.assert(property, { numRuns: runs, seed, includeErrorInReport: true })
    t.pass()
  })
}

test('fuzz: enough requests pass validation', (t) => {
  const done = statuses.filter((status) => status < 400).length
  t.log(`FUZZ_SEED=${seed}: ${statuses.length} requests, ${done} of them did something`)
  t.true(done > statuses.length / 5)
})
