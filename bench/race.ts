import type { Aims, Bench, Case } from '#bench/case.ts'
import { load, type Shot } from '#bench/load.ts'

/** A request to Kontor, and the one that it is compared with. */
export interface Race {
  readonly name: string
  readonly floor: Omit<Shot, 'token'> & Partial<Shot>
  readonly kontor: Omit<Shot, 'token'> & Partial<Shot>
  /** Set where Kontor is compared with itself: other rights, or another size. */
  readonly floorIsKontor?: true
  readonly connections?: number
  readonly aims: Aims
}

/** The case of a race; a shot without credentials uses the owner's. */
export function race(bench: Bench, { name, floor, kontor, floorIsKontor, connections = bench.connections, aims }: Race): Case {
  const { loaded, seconds, kontorUrl, floorUrl } = bench
  const run = (url: string, shot: Race['floor']) => () => load({ url, connections, seconds }, { token: loaded.token, ...shot })
  return { name, unit: 'requests/s', floor: run(floorIsKontor ? kontorUrl : floorUrl, floor), kontor: run(kontorUrl, kontor), aims }
}

/** The case of a path that one caller reads, without a floor. */
export const alone = ({ loaded, seconds, kontorUrl: url }: Bench, name: string, path: string, aims: Aims): Case => ({
  name,
  unit: 'requests/s',
  kontor: () => load({ url, connections: 1, seconds }, { token: loaded.token, ...get(() => path) }),
  aims,
})

/** Reads of the nth path. */
export const get = (path: (index: number) => string): Race['floor'] => ({ method: 'GET', make: (index) => ({ path: path(index) }) })

/** Writes of the nth body, empty by default, to the nth path. */
export const send = (
  method: 'POST' | 'PUT',
  path: (index: number) => string,
  body: (index: number) => object = () => ({}),
): Race['floor'] => ({
  method,
  make: (index) => ({ path: path(index), body: JSON.stringify(body(index)) }),
})

/** The nth thing, in rotation. */
export function nth<T>(things: readonly T[], index: number): T {
  const thing = things[index % things.length]
  if (thing === undefined) throw new Error('There is nothing to go round')
  return thing
}
