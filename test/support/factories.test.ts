import test from 'ava'
import { world } from '#test/support/world.ts'

test('factories: people are signed in at any time of the world', async (t) => {
  let now = new Date('2001-01-01T00:00:00Z')
  const w = await world({}, [], () => now)
  t.teardown(w.close)
  for (const year of [2001, 2040]) {
    now = new Date(`${year}-01-01T00:00:00Z`)
    t.is((await w.org.owner.get(w.org.path)).status, 200, String(year))
  }
})
