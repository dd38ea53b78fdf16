import test from 'ava'
import fc from 'fast-check'
import { sections } from '#api/routes.ts'
import { furnish } from '#test/api/fuzz/place.ts'
import { requestsTo, send } from '#test/api/fuzz/request.ts'
import { startAgent } from '#test/support/agent.ts'
import { listening } from '#test/support/listening.ts'
import { shareWorld } from '#test/support/shared-world.ts'

/** Requests to each route; FUZZ_RUNS asks for more, FUZZ_SEED for those of an earlier run. */
const runs = Number(process.env.FUZZ_RUNS ?? 24)
const seed = Number(process.env.FUZZ_SEED ?? Date.now() % 2 ** 31)
const start = shareWorld(test, { TRUST_PROXY: '1', ...(await listening()), AGENT_URL: (await startAgent()).url })
const statuses: number[] = []

for (const { base, routes } of sections) {
  for (const route of routes) {
    // One after the other: the seed then makes the same requests in the same order.
    test.serial(`whatever it is sent, it answers as described: ${route.method} ${base}${route.path}`, async (t) => {
      const w = await start()
      const place = await furnish(w, route.path)
      const property = fc.asyncProperty(requestsTo(route, base, place), async (sent) => {
        statuses.push(await send(w.visitor.root, route, sent))
      })
      await fc.assert(property, { numRuns: runs, seed })
      t.pass()
    })
  }
}

test.serial('a good share of the requests reaches the work itself', (t) => {
  const done = statuses.filter((status) => status < 400).length
  t.log(`FUZZ_SEED=${seed}: ${statuses.length} requests, ${done} of them did something`)
  t.true(done > statuses.length / 4)
})
