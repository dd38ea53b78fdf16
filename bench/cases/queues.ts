import type { Bench, Case, Group } from '#bench/case.ts'
import { type FilledQueue, makeQueues } from '#bench/data/queues.ts'
import { get, race, send } from '#bench/race.ts'

/** Work queues: Kontor against itself, by few items and by many, within 1.2. */
export const queues: Group = {
  name: 'queues',
  cases: async (bench) => {
    const { loaded } = bench
    const [small, large] = [loaded.sizes[0].records, loaded.sizes.at(-1)?.records ?? 0]
    const [few, many] = await makeQueues(bench, loaded, [small, large])
    return few && many && many.items > few.items ? independent(bench, few, many) : []
  },
}

function independent(bench: Bench, few: FilledQueue, many: FilledQueue): Case[] {
  const kinds = {
    board: ({ path }: FilledQueue) => get(() => `${path}/board?limit=20`),
    summary: ({ path }: FilledQueue) => get(() => `${path}/summary`),
    'list of 50': ({ path }: FilledQueue) => get(() => `${path}/items`),
    claim: ({ path }: FilledQueue) =>
      send(
        'POST',
        () => `${path}/claim`,
        () => ({}),
      ),
    scan: ({ path, items }: FilledQueue) =>
      send(
        'POST',
        () => `${path}/scan`,
        (index) => ({ key: `key ${1 + ((index * 10) % items)}`, to_stage: index % 2 === 0 ? 'in' : 'work' }),
      ),
  }
  const sizes = [few, many].map(({ items }) => items.toLocaleString('en')).join(' → ')
  return Object.entries(kinds).map(([kind, of]) =>
    race(bench, { name: `${kind}, ${sizes}`, floor: of(few), kontor: of(many), floorIsKontor: true, aims: { ratioAtLeast: 1 / 1.2 } }),
  )
}
