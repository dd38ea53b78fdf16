import { randomBytes } from 'node:crypto'
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { accessCases, makeCallers } from '#bench/access.ts'
import { loadData } from '#bench/data.ts'
import { startDatabase } from '#bench/database.ts'
import { benchFunctions } from '#bench/functions.ts'
import { makeLivingType } from '#bench/living.ts'
import { type Figures, load, type Shot } from '#bench/load.ts'
import { benchRecompute } from '#bench/recompute.ts'
import { recordCases } from '#bench/records.ts'
import { startServer } from '#bench/servers.ts'
import { benchSoak } from '#bench/soak/soak.ts'
import { release } from '#shared/release.ts'

/**
 * `npm run bench`: Kontor against the floor, the same statements from a bare Koa route, in one run on one machine. Each case is measured
 * in turn, floor, Kontor, floor, Kontor, …; the table shows medians and their ratio. `--only soak` is the long mixed run, which takes
 * `--soak` seconds and is no part of the others.
 */
const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    records: { type: 'string', default: '100000' },
    seconds: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '16' },
    soak: { type: 'string', default: '300' },
  },
})
const [records, seconds, rounds, connections] = [options.records, options.seconds, options.rounds, options.connections].map(Number) as [
  number,
  number,
  number,
  number,
]

if (options.only === 'soak') process.exit((await soak()) ? 0 : 1)

const postgres = await startDatabase()
const stops: (() => Promise<void>)[] = [() => postgres.stop()]
try {
  const databaseUrl = postgres.url
  await release(databaseUrl)
  console.log(
    `Loading ${records.toLocaleString('en')} records; ${cpus().length} cores, ${connections} connections, ${rounds} rounds of ${seconds} s`,
  )
  const loaded = await loadData(databaseUrl, records)
  const environment = { DATABASE_URL: databaseUrl, SECRET_KEY: randomBytes(32).toString('hex'), DATABASE_CONNECTIONS: '16' }
  const kontor = await startServer('api/main.ts', environment)
  stops.unshift(kontor.stop)
  const living = await makeLivingType(kontor.url, databaseUrl, loaded)
  const floor = await startServer('bench/floor.ts', { DATABASE_URL: databaseUrl, FLOOR: JSON.stringify({ ...loaded, living }) })
  stops.unshift(floor.stop)
  const measure = (url: string, shot: Shot) => load(url, loaded.token, shot, connections, seconds)
  const cases = [...recordCases(loaded), ...accessCases(loaded, await makeCallers(databaseUrl, loaded))].filter(({ name }) =>
    name.includes(options.only),
  )
  console.log(`${'case'.padEnd(20)}${heading('floor')}${heading('kontor')}    ratio   aim`)
  for (const { name, aim, floorIsKontor, ...shots } of cases) {
    const runs: { floor: Figures; kontor: Figures }[] = []
    for (let round = 0; round < rounds; round++) {
      runs.push({
        floor: await measure(floorIsKontor ? kontor.url : floor.url, shots.floor),
        kontor: await measure(kontor.url, shots.kontor),
      })
    }
    const ratio = median(runs.map((run) => run.kontor.perSecond / run.floor.perSecond))
    const cells = (['floor', 'kontor'] as const).map((side) => figures(runs.map((run) => run[side]))).join('')
    console.log(`${name.padEnd(20)}${cells}${ratio.toFixed(2).padStart(9)}${aim.toFixed(2).padStart(6)}`)
  }
  if ('recompute'.includes(options.only)) await benchRecompute(kontor.url, loaded, environment)
  if ('functions'.includes(options.only)) await benchFunctions(kontor.url, loaded, environment, seconds)
} finally {
  for (const stop of stops) await stop()
}

async function soak(): Promise<boolean> {
  const postgres = await startDatabase()
  try {
    await release(postgres.url)
    return await benchSoak(postgres.url, Number(options.soak))
  } finally {
    await postgres.stop()
  }
}

function heading(side: string): string {
  return `${side}/s`.padStart(11) + 'p50 ms'.padStart(9) + 'p99 ms'.padStart(9)
}

function figures(runs: readonly Figures[]): string {
  const [perSecond, p50, p99] = [runs.map((run) => run.perSecond), runs.map((run) => run.p50Ms), runs.map((run) => run.p99Ms)].map(median)
  return (
    Math.round(perSecond ?? 0)
      .toString()
      .padStart(11) +
    (p50 ?? 0).toFixed(2).padStart(9) +
    (p99 ?? 0).toFixed(2).padStart(9)
  )
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
