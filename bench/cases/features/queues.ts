import type { Bench, Case, Group } from '#bench/case.ts'
import { sender } from '#bench/client.ts'
import { type FilledQueue, makeQueues } from '#bench/data/queues.ts'
import { scanAtStations } from '#bench/queues/stations.ts'
import { get, nth, race, send } from '#bench/race.ts'

/**
 * Work queues, in three sets of cases: Kontor compared with the floor; four stations that scan at a fixed rate; and a large queue compared with
 * a small one, whose requests may take at most 1.2 times as long.
 */
export const queues: Group = {
  name: 'queues',
  cases: async (bench) => {
    const { loaded } = bench
    const [small, large] = [loaded.sizes[0].records, loaded.sizes.at(-1)?.records ?? 0]
    const [few, many = few] = await makeQueues(bench, loaded, small === large ? [small] : [small, large])
    if (!few || !many) throw new Error('The queues are missing')
    return [...floorCases(bench, many), stationsCase(bench, many), ...(many.items > few.items ? sizeCases(bench, few, many) : [])]
  },
}

/** Bodies of scans by index: one round of all waiting keys moves them to `work`, and the next round moves them back. */
const scanBody = (items: number) => (index: number) => ({
  key: waitingKey(items, index),
  to_stage: Math.floor((index * 10) / items) % 2 === 0 ? 'work' : 'in',
})

/** Keys of waiting items, in rotation: `makeQueues` makes every tenth item one. */
const waitingKey = (items: number, index: number): string => `key ${10 + ((index * 10) % items)}`

function floorCases(bench: Bench, queue: FilledQueue): Case[] {
  const floorPath = `/queues/${queue.place}`
  const move = (path: string) =>
    send(
      'POST',
      (index) => `${path}/items/${nth(queue.open, index)}/move`,
      (index) => ({ to_stage: Math.floor(index / queue.open.length) % 2 === 0 ? 'work' : 'in' }),
    )
  const requests = {
    claim: (path: string) => send('POST', () => `${path}/claim`),
    move,
    scan: (path: string) => send('POST', () => `${path}/scan`, scanBody(queue.items)),
  }
  return Object.entries(requests).map(([name, requestTo]) =>
    race(bench, { name, floor: requestTo(floorPath), kontor: requestTo(queue.path), aims: { ratioAtLeast: 0.6 } }),
  )
}

function stationsCase(bench: Bench, queue: FilledQueue): Case {
  const { loaded, kontorUrl } = bench
  const sendRequest = sender(kontorUrl, loaded)
  const path = `/queues/${queue.place.split('/')[1]}`
  return {
    name: 'four stations at 20 scans a second',
    unit: 'scans/s',
    kontor: () => scanAtStations(sendRequest, path, (index) => waitingKey(queue.items, index), Math.max(5, bench.seconds)),
    aims: { p95AtMostMs: 50, amountAtLeast: 75 },
    rounds: 3,
  }
}

function sizeCases(bench: Bench, few: FilledQueue, many: FilledQueue): Case[] {
  const requests = {
    board: ({ path }: FilledQueue) => get(() => `${path}/board?limit=20`),
    summary: ({ path }: FilledQueue) => get(() => `${path}/summary`),
    'list of 50': ({ path }: FilledQueue) => get(() => `${path}/items`),
    'two letters without a match': ({ path }: FilledQueue) => get(() => `${path}/items?q=zq`),
    claim: ({ path }: FilledQueue) => send('POST', () => `${path}/claim`),
    scan: ({ path, items }: FilledQueue) =>
      send(
        'POST',
        () => `${path}/scan`,
        (index) => ({ key: `key ${1 + ((index * 10) % items)}`, to_stage: index % 2 === 0 ? 'in' : 'work' }),
      ),
  }
  const sizes = [few, many].map(({ items }) => items.toLocaleString('en')).join(' → ')
  return Object.entries(requests).map(([name, requestTo]) =>
    race(bench, {
      name: `${name}, ${sizes}`,
      floor: requestTo(few),
      kontor: requestTo(many),
      floorIsKontor: true,
      aims: { ratioAtLeast: 1 / 1.2 },
    }),
  )
}
