import type { Bench, Case, Group, Side } from '#bench/case.ts'
import { filters, pathOf } from '#bench/cases/core/records.ts'
import { sender } from '#bench/client.ts'
import { makeWideType, wideValue } from '#bench/data/wide.ts'
import { load, type Shot } from '#bench/load.ts'
import { residentMegabytes, serverMegabytes } from '#bench/servers/memory.ts'

/** Requests of each kind, before and after which memory is measured. */
const requests = 100_000

/**
 * Callers that name other fields in every request, compared with callers that name the same fields. Every choice was once a prepared
 * statement, which PostgreSQL kept on every connection: 4 GB after a minute.
 */
export const shapes: Group = {
  name: 'shapes',
  cases: async (bench) => {
    const keys = await makeWideType(bench.kontorUrl, bench.loaded, 'wide')
    const ids = await fill(bench, 'wide', keys)
    await makeWideType(bench.kontorUrl, bench.loaded, 'sought')
    await fill(bench, 'sought', keys)
    const pathTo = (key: string) => pathOf({ ...bench.loaded, key })
    const shots = shotsOf(pathTo('wide'), pathTo('sought'), keys, ids)
    return [...shots.map((shot) => caseOf(bench, shot)), memoryCase(bench, shots)]
  },
}

async function fill({ kontorUrl, loaded }: Bench, type: string, keys: readonly string[]): Promise<string[]> {
  const send = sender(kontorUrl, loaded)
  const ids: string[] = []
  for (let index = 0; index < 200; index++) {
    ids.push((await send('POST', `/records/${type}`, { values: valuesOf(keys.slice(0, 30), index) })).id)
  }
  return ids
}

interface Pair {
  readonly name: string
  readonly method: Shot['method']
  /** The nth request; `chosen` returns the fields that it names. */
  readonly make: (index: number, chosen: readonly string[]) => { path: string; body?: string }
  readonly keys: readonly string[]
}

/**
 * `sought` is a type that stays small, so that both sides of a search read the same few pages. In the growing type of the other cases, the
 * four fields that are always searched would get an index, and randomly chosen fields would not.
 */
function shotsOf(path: string, sought: string, keys: readonly string[], ids: readonly string[]): Pair[] {
  const body = (index: number, chosen: readonly string[]) => JSON.stringify({ values: valuesOf(chosen, index) })
  return [
    { name: 'create', method: 'POST', keys, make: (index, chosen) => ({ path, body: body(index, chosen) }) },
    {
      name: 'update',
      method: 'PUT',
      keys,
      make: (index, chosen) => ({ path: `${path}/${ids[index % ids.length]}/values`, body: body(index, chosen) }),
    },
    {
      name: 'search',
      method: 'GET',
      keys: keys.filter((key) => key.startsWith('string') || key.startsWith('email')),
      make: (index, chosen) => ({
        path: `${sought}?limit=1&${filters(...chosen.slice(0, 4).map((key) => [key, 'eq', `nothing ${index}`] as const))}`,
      }),
    },
  ]
}

const valuesOf = (keys: readonly string[], index: number) => Object.fromEntries(keys.map((key) => [key, wideValue(key, index)]))

const half = (keys: readonly string[]): readonly string[] => keys.filter((_, place) => place % 2 === 0)

/** A random half of the fields, in random order. */
const anyHalf = (keys: readonly string[]): readonly string[] =>
  keys
    .map((key) => [Math.random(), key] as const)
    .toSorted(([one], [other]) => one - other)
    .slice(0, keys.length >> 1)
    .map(([, key]) => key)

function caseOf(bench: Bench, { name, method, make, keys }: Pair): Case {
  const { kontorUrl: url, connections, seconds, loaded } = bench
  const run = (choose: (keys: readonly string[]) => readonly string[]) => () =>
    load({ url, connections, seconds }, { method, token: loaded.token, make: (index) => make(index, choose(keys)) })
  return { name: `${name}, random against one`, unit: 'requests/s', floor: run(half), kontor: run(anyHalf), aims: { ratioAtLeast: 0.85 } }
}

/** Memory that PostgreSQL and the API gain by requests of random shapes. */
function memoryCase({ kontorUrl: url, databaseUrl, kontorPid, connections, loaded }: Bench, shots: readonly Pair[]): Case {
  const held = async () => (await serverMegabytes(databaseUrl)) + residentMegabytes(kontorPid)
  return {
    name: `growth, ${requests.toLocaleString('en')} requests`,
    unit: 'MB',
    aims: { amountAtMost: 150 },
    rounds: 1,
    kontor: async (): Promise<Side> => {
      const before = await held()
      for (const { method, make, keys } of shots) {
        const shot: Shot = { method, token: loaded.token, make: (index) => make(index, anyHalf(keys)) }
        await load({ url, connections, requests: Math.ceil(requests / shots.length) }, shot)
      }
      return { amount: (await held()) - before }
    },
  }
}
