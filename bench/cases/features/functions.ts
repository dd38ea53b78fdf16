import type { Bench, Group, Side, Timed } from '#bench/case.ts'
import { pathOf } from '#bench/cases/core/records.ts'
import { pathIn, sender } from '#bench/client.ts'
import { hold } from '#bench/functions/hold.ts'
import { endless, hostile, makeFunction, trivial } from '#bench/functions/make.ts'
import { makeNoise } from '#bench/functions/noise.ts'
import { bareRun, sdkGet } from '#bench/functions/times.ts'
import { load, type Shot } from '#bench/load.ts'
import { get, nth } from '#bench/race.ts'
import { startWorker } from '#bench/servers/worker.ts'

/** The steady rate of a hundred per second and the hostile functions last this many times the seconds of a case, a minute by default. */
const [heldTimes, hostileTimes] = [30, 10]

/** Runs of functions end to end, each figure next to its parts or to its comparison. */
export const functions: Group = {
  name: 'functions',
  cases: async (bench) => {
    const { loaded, kontorUrl, seconds } = bench
    await startWorker(bench, 'functions,data')
    const one = pathIn(loaded, await makeFunction(sender(kontorUrl, loaded), trivial))
    const besideHostile = await makeNoise(bench, { sources: hostile, callers: 4, timeoutMs: 500 })
    const underFlood = await makeNoise(bench, { sources: [endless], callers: 16, timeoutMs: 1_000 })
    const invoke = { method: 'POST', make: () => ({ path: `${one}/invoke`, body: '{}' }) } as const
    const shoot = (shot: Omit<Shot, 'token'>, connections: number, forSeconds = seconds): Promise<Timed> =>
      load({ url: kontorUrl, connections, seconds: forSeconds }, { ...shot, token: loaded.token })
    const rename = { method: 'PUT', make: (index: number) => ({ path: one, body: JSON.stringify({ name: `n${index}` }) }) } as const
    return [
      {
        name: 'invoke : isolate + job',
        unit: 'requests/s',
        compares: 'p50Ms',
        floor: async () => together(await bareRun(seconds), await shoot(rename, 1)),
        kontor: () => shoot(invoke, 1),
        aims: { ratioAtMost: 3 },
      },
      {
        name: '100 invokes/s held',
        unit: 'requests/s',
        rounds: 1,
        kontor: () => hold(bench, one, 100, heldTimes * seconds),
        aims: { amountAtLeast: 99 },
      },
      {
        name: 'records.get inside : through the API',
        unit: 'requests/s',
        compares: 'p50Ms',
        floor: () => shoot(getOf(bench), 1),
        kontor: () => sdkGet(bench),
        aims: { ratioAtMost: 2 },
      },
      {
        name: 'p95 of invoke beside hostile ones',
        unit: 'requests/s',
        rounds: 1,
        compares: 'p95Ms',
        floor: () => shoot(invoke, 2),
        kontor: () => besideHostile(() => shoot(invoke, 2, hostileTimes * seconds)),
        aims: { ratioAtMost: 2 },
      },
      {
        name: 'p95 of invoke under a flood',
        unit: 'requests/s',
        compares: 'p95Ms',
        floor: () => shoot(invoke, 2),
        kontor: () => underFlood(() => shoot(invoke, 2)),
        aims: { ratioAtMost: 2 },
      },
    ]
  },
}

/** Times of two pieces of work, one after the other. */
const together = (one: Timed, other: Timed): Side => ({ p50Ms: one.p50Ms + other.p50Ms, p99Ms: one.p99Ms + other.p99Ms })

const getOf = ({ loaded: { typical } }: Bench): Omit<Shot, 'token'> => get((index) => `${pathOf(typical)}/${nth(typical.ids, index)}`)
