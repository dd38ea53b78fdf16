import type { Bench, Case, Group } from '#bench/case.ts'
import { sender } from '#bench/client.ts'
import { type FilledQueue, makeQueues } from '#bench/data/queues.ts'
import { scanAtStations } from '#bench/queues/stations.ts'
import { get, nth, race, send } from '#bench/race.ts'

/**
 * Work queues: compared with the bare statements; four stations at their pace; and Kontor with many items compared with few, within 1.2.
 */
export const queues: Group = {
  name: 'queues',
  cases: async (bench) => {
    const { loaded } = bench
    const [small, large] = [loaded.sizes[0].records, loaded.sizes.at(-1)?.records ?? 0]
    const [few, many = few] = await makeQueues(bench, loaded, small === large ? [small] : [small, large])
    if (!few || !many) throw new Error('The queues are missing')
    return [...againstStatements(bench, many), stations(bench, many), ...(many.items > few.items ? independent(bench, few, many) : [])]
  },
}

/** The nth scan: each key is moved to work and by its next scan back. */
const scanned = (items: number) => (index: number) => ({
  key: keyOf(items, index),
  to_stage: Math.floor((index * 10) / items) % 2 === 0 ? 'work' : 'in',
})

/** Every tenth item waits. */
const keyOf = (items: number, index: number): string => `key ${10 + ((index * 10) % items)}`

function againstStatements(bench: Bench, queue: FilledQueue): Case[] {
  const floorPath = `/queues/${queue.place}`
  const move = (path: string) =>
    send(
      'POST',
      (index) => `${path}/items/${nth(queue.open, index)}/move`,
      (index) => ({ to_stage: Math.floor(index / queue.open.length) % 2 === 0 ? 'work' : 'in' }),
    )
  const kinds = {
    claim: (path: string) => send('POST', () => `${path}/claim`),
    move,
    scan: (path: string) => send('POST', () => `${path}/scan`, scanned(queue.items)),
  }
  return Object.entries(kinds).map(([name, of]) =>
    race(bench, { name, floor: of(floorPath), kontor: of(queue.path), aims: { ratioAtLeast: 0.6 } }),
  )
}

function stations(bench: Bench, queue: FilledQueue): Case {
  const { loaded, kontorUrl } = bench
  const ask = sender(kontorUrl, loaded)
  const path = `/queues/${queue.place.split('/')[1]}`
  return {
    name: 'four stations at 20 scans a second',
    unit: 'scans/s',
    kontor: () => scanAtStations(ask, path, (index) => keyOf(queue.items, index), Math.max(5, bench.seconds)),
    aims: { p95AtMostMs: 50, amountAtLeast: 75 },
    rounds: 3,
  }
}

function independent(bench: Bench, few: FilledQueue, many: FilledQueue): Case[] {
  const kinds = {
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
  return Object.entries(kinds).map(([kind, of]) =>
    race(bench, { name: `${kind}, ${sizes}`, floor: of(few), kontor: of(many), floorIsKontor: true, aims: { ratioAtLeast: 1 / 1.2 } }),
  )
}
