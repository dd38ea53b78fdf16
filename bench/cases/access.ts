import type { Group } from '#bench/case.ts'
import { filters, pathOf } from '#bench/cases/core/records.ts'
import { makeCallers } from '#bench/data/callers.ts'
import { get, nth, race } from '#bench/race.ts'

const stage = 'stage-7'

/** The cost of rules: the same work by a caller with few rules and by one with many. A list with a condition is compared with a filter. */
export const access: Group = {
  name: 'access',
  cases: async (bench) => {
    const { typical } = bench.loaded
    const { plain, conditional, one, all } = await makeCallers(bench.databaseUrl, typical, stage)
    const path = pathOf(typical)
    const byId = get((index) => `${path}/${nth(typical.ids, index)}`)
    const filtered = get(() => `${path}?${filters(['stage', 'eq', stage])}`)
    const aims = { ratioAtLeast: 1 / 1.2 }
    const byPlain = (name: string, floor: typeof byId, token: string, kontor = floor) =>
      race(bench, { name, floorIsKontor: true, aims, floor: { ...floor, token: plain }, kontor: { ...kontor, token } })
    return [
      byPlain(
        'search under a condition',
        filtered,
        conditional,
        get(() => `${path}?offset=0`),
      ),
      byPlain('get, 1 role of 1,000', byId, one),
      byPlain('get, all 1,000 roles', byId, all),
    ]
  },
}
