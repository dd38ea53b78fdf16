import type { Bench, Case, Group } from '#bench/case.ts'
import { pathOf } from '#bench/cases/core/records.ts'
import type { Pipeline } from '#bench/data/pipeline.ts'
import { get, nth, race } from '#bench/race.ts'

/** Reads whose speed must not depend on the amount of data: with much, Kontor answers at least 1/1.2 of the requests per second. */
export const size: Group = {
  name: 'size',
  cases: (bench) => {
    const { sizes, neighbours } = bench.loaded
    const [small, large, neighbour] = [sizes[0], sizes.at(-1), neighbours[0]]
    return [
      ...(large && large !== small ? independent(bench, `${figure(small.records)} → ${figure(large.records)}`, [small], [large]) : []),
      ...independent(bench, `1 → ${neighbours.length} workspaces`, [neighbour], neighbours),
    ]
  },
}

function independent(bench: Bench, name: string, few: readonly Pipeline[], many: readonly Pipeline[]): Case[] {
  const aims = { ratioAtLeast: 1 / 1.2 }
  const kinds = {
    get: (types: readonly Pipeline[]) =>
      get((index) => `${pathOf(nth(types, index))}/${nth(nth(types, index).ids, Math.floor(index / types.length))}`),
    'list of 50': (types: readonly Pipeline[]) => get((index) => `${pathOf(nth(types, index))}?limit=50`),
  }
  return Object.entries(kinds).map(([kind, of]) =>
    race(bench, { name: `${kind}, ${name}`, floor: of(few), kontor: of(many), floorIsKontor: true, aims }),
  )
}

const figure = (value: number): string => value.toLocaleString('en')
