import type { Group } from '#bench/case.ts'
import { pathOf } from '#bench/cases/core/records.ts'
import { makeLivingType } from '#bench/data/living.ts'
import { race, send } from '#bench/race.ts'
import { startFloor } from '#bench/servers/floor.ts'

/** A record of the type of `makeLivingType`. */
const order = () => ({ values: { price: '12.50', count: 3, due: '2026-12-24', notes: 'A few words about what was said on the phone.' } })

/** Creations with effects: a number, two formulas, a notification. The floor writes the same rows. */
export const living: Group = {
  name: 'living',
  cases: async (bench) => {
    const { loaded, kontorUrl, databaseUrl, environment, atEnd } = bench
    const floor = await startFloor(environment, {
      actorId: loaded.actorId,
      types: [],
      living: await makeLivingType(kontorUrl, databaseUrl, loaded),
    })
    atEnd(floor.stop)
    return [
      race(
        { ...bench, floorUrl: floor.url },
        {
          name: 'create',
          aims: { ratioAtLeast: 0.5 },
          floor: send('POST', () => '/orders', order),
          kontor: send('POST', () => pathOf({ ...loaded, key: 'orders' }), order),
        },
      ),
    ]
  },
}
