import { randomBytes } from 'node:crypto'
import { cpus } from 'node:os'
import type { Bench } from '#bench/case.ts'
import { loadData } from '#bench/data/load.ts'
import type { Pipeline } from '#bench/data/pipeline.ts'
import type { FloorOptions } from '#bench/floor/type.ts'
import { groups } from '#bench/groups.ts'
import { measure } from '#bench/measure.ts'
import { isWanted, readOptions } from '#bench/options.ts'
import { startDatabase } from '#bench/servers/database.ts'
import { startFloor } from '#bench/servers/floor.ts'
import { startServer } from '#bench/servers/start.ts'
import { benchSoak } from '#bench/soak/soak.ts'
import { heading, isMissed, line, type Row } from '#bench/table.ts'
import { release } from '#shared/release.ts'

/**
 * `npm run bench`: Kontor compared with the floor, in one run on one machine and as one table. Each case measures both in alternation; the
 * table shows medians and the ratio (bench/README.md). `--only soak` runs only the long mixed run.
 */
const { only, records, seconds, rounds, connections, soakSeconds } = readOptions(process.argv.slice(2))
if (only.includes('soak')) process.exit((await soak()) ? 0 : 1)

const wanted = groups.filter(({ name }) => isWanted(only, name, true))
if (wanted.length === 0) throw new Error(`--only must begin like one of ${groups.map(({ name }) => name).join(', ')}`)

const stops: (() => Promise<void>)[] = []
const rows: Row[] = []
try {
  const postgres = await startDatabase()
  stops.unshift(postgres.stop)
  await release(postgres.url)
  console.log(`${cpus().length} cores, ${connections} connections, ${rounds} rounds of ${seconds} s for each side`)
  const loaded = await loadData(postgres.url, records, console.log)
  const environment = {
    DATABASE_URL: postgres.url,
    DATA_DIR: postgres.filesFolder,
    SECRET_KEY: randomBytes(32).toString('hex'),
    DATABASE_CONNECTIONS: '18',
  }
  const kontor = await startServer('api', environment)
  stops.unshift(kontor.stop)
  const floorOptions: FloorOptions = { actorId: loaded.actorId, types: [...loaded.sizes, ...loaded.neighbours].map(withoutIds) }
  const floor = await startFloor(environment, floorOptions)
  stops.unshift(floor.stop)
  const bench = {
    loaded,
    kontorUrl: kontor.url,
    kontorPid: kontor.pid,
    floorUrl: floor.url,
    databaseUrl: postgres.url,
    environment,
    connections,
    seconds,
  }
  console.log(`\n${heading()}`)
  for (const group of wanted) await measureGroup(group, bench)
  const missed = rows.filter(isMissed)
  console.log(`\n${rows.length} cases, ${missed.length} missed their aim${missed.map(({ name }) => `\n  ${name}`).join('')}`)
} finally {
  for (const stop of stops) await stop()
}

async function measureGroup({ name, cases }: (typeof groups)[number], bench: Omit<Bench, 'atEnd'>): Promise<void> {
  const ends: (() => Promise<void>)[] = []
  try {
    for (const one of await cases({ ...bench, atEnd: (stop) => ends.unshift(stop) })) {
      const fullName = `${name}: ${one.name}`
      if (!isWanted(only, fullName)) continue
      const row = await measure(fullName, one, rounds)
      rows.push(row)
      console.log(line(row))
    }
  } finally {
    for (const end of ends) await end()
  }
}

async function soak(): Promise<boolean> {
  const postgres = await startDatabase()
  try {
    await release(postgres.url)
    return await benchSoak(postgres.url, soakSeconds)
  } finally {
    await postgres.stop()
  }
}

/** Without the thousands of ids, which an environment cannot hold. */
function withoutIds({ ids: _, ...type }: Pipeline): FloorOptions['types'][number] {
  return type
}
