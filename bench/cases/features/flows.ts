import type { Bench, Case, Group, Side } from '#bench/case.ts'
import { deal, pathOf } from '#bench/cases/core/records.ts'
import { type Send, sender } from '#bench/client.ts'
import { byHand, computation, creation, makeFlow, onCreation, repetition } from '#bench/data/flow.ts'
import type { Pipeline } from '#bench/data/pipeline.ts'
import { queueName } from '#bench/floor/queue.ts'
import { openDatabase } from '#bench/jobs/database.ts'
import { drained, putEmpty } from '#bench/jobs/drain.ts'
import { type BenchFlow, forgetRuns, putRuns, reached, runsEnded } from '#bench/jobs/runs.ts'
import { load, sideOf } from '#bench/load.ts'
import { race, send } from '#bench/race.ts'
import { residentMegabytes } from '#bench/servers/memory.ts'
import { whileRunning } from '#bench/servers/start.ts'
import type { Database } from '#shared/platform/db/database.ts'

/** Runs of the throughput case, waiting runs of the noisy workspace, rows of a file, and manual runs that are started during the import. */
const [count, waiting, rows, begun] = [2_000, 10_000, 500, 20]

/** 100,000 steps: runs of loops over a thousand items with four blocks. Earlier runs set the base of memory. */
const [items, longRuns, firstRuns] = [1_000, 25, 5]

/** Memory that these steps may add to their worker. */
const growthMegabytes = 32

/** Runs of flows, from their trigger to their end. */
export const flows: Group = {
  name: 'flows',
  cases: async (bench) => {
    const db = openDatabase(bench)
    const [noisy, quiet = noisy, imported = noisy, withListener = noisy, withoutListener = noisy] = bench.loaded.neighbours
    const lone = await flowIn(bench, quiet, byHand, computation)
    const place = { bench, db, lone, startLone: async () => (await inside(bench, quiet)<Started>('POST', `${lone.path}/run`, {})).run_id }
    return [
      await threeSteps(place, noisy),
      loneRun(place),
      await besideWaiting(place, noisy),
      besideImport(place, imported),
      await listenedTo(place, withListener, withoutListener),
      await memory(place, noisy),
    ]
  },
}

interface Started {
  readonly run_id: string
}

/** Shared by the cases: a small flow of a workspace without other work. */
interface Place {
  readonly bench: Bench
  readonly db: Database
  readonly lone: BenchFlow
  /** Starts a run and returns its id. */
  readonly startLone: () => Promise<string>
}

const inside = ({ loaded, kontorUrl }: Bench, { workspaceId }: Pipeline): Send => sender(kontorUrl, { ...loaded, workspaceId })

async function flowIn(bench: Bench, type: Pipeline, ...blocks: Parameters<typeof makeFlow>[1]): Promise<BenchFlow> {
  return { workspaceId: type.workspaceId, path: await makeFlow(inside(bench, type), blocks) }
}

/** Does some work while a worker runs that has already executed a run. Afterwards the runs of these flows are deleted. */
async function withWorker<T>(
  { bench, db, lone, startLone }: Place,
  flows: readonly BenchFlow[],
  work: (pid: number) => Promise<T>,
): Promise<T> {
  const warmed = async (pid: number) => {
    await reached(db, await startLone(), 'finished_at')
    return work(pid)
  }
  try {
    return await whileRunning(warmed, 'worker', bench.environment, ['--pools=flows,data'])
  } finally {
    for (const flow of [lone, ...flows]) await forgetRuns(db, flow)
  }
}

/** Runs of three creations, compared with jobs that create three bare records in transactions of their own. */
async function threeSteps({ bench, db }: Place, type: Pipeline): Promise<Case> {
  const three = await flowIn(bench, type, byHand, ...Array.from({ length: 3 }, () => creation(type.key)))
  const { environment, loaded } = bench
  const floor = async (): Promise<Side> => {
    await putEmpty(db, queueName, count)
    const { ids: _, ...rest } = type
    const settings = { ...environment, FLOOR: JSON.stringify({ actorId: loaded.actorId, types: [rest] }) }
    return { amount: await whileRunning(() => drained(db, queueName, count), 'bench/floor/flow-worker.ts', settings) }
  }
  const kontor = async (): Promise<Side> => {
    await putRuns(db, three, count)
    const amount = await whileRunning(() => runsEnded(db, three, count), 'worker', environment, ['--pools=flows,data'])
    await forgetRuns(db, three)
    return { amount }
  }
  return { name: 'three steps', unit: 'runs/s', rounds: 3, floor, kontor, aims: { ratioAtLeast: 0.5 } }
}

/** A single run, from the request to its end, compared with a request that an idle worker answers. */
function loneRun(place: Place): Case {
  const { bench, db, startLone } = place
  const shot = { ...send('POST', () => '/jobs'), token: bench.loaded.token }
  const target = { url: bench.floorUrl, connections: 1, seconds: bench.seconds }
  const floor = () => whileRunning(() => load(target, shot), 'bench/floor/worker.ts', bench.environment)
  const kontor = () =>
    withWorker(place, [], async () => {
      const times: number[] = []
      const started = performance.now()
      while (performance.now() - started < bench.seconds * 1_000) {
        const at = performance.now()
        await reached(db, await startLone(), 'finished_at')
        times.push(performance.now() - at)
      }
      return sideOf(times, (performance.now() - started) / 1_000)
    })
  return { name: 'a lone run', unit: 'runs/s', compares: 'p50Ms', rounds: 3, floor, kontor, aims: { ratioAtMost: 4 } }
}

/** The longest wait of some manual runs in the quiet workspace until they begin. */
async function longestWait({ db, startLone }: Place): Promise<Side> {
  const times: number[] = []
  for (let run = 0; run < begun; run++) times.push(await reached(db, await startLone(), 'started_at'))
  return { p50Ms: Math.max(...times) }
}

async function besideWaiting(place: Place, type: Pipeline): Promise<Case> {
  const busy = await flowIn(place.bench, type, byHand, creation(type.key))
  const kontor = () =>
    withWorker(place, [busy], async () => {
      await putRuns(place.db, busy, waiting)
      return longestWait(place)
    })
  return { name: `a run begins beside ${waiting.toLocaleString('en')}`, unit: 'ms', rounds: 1, kontor, aims: { p50AtMostMs: 1_000 } }
}

function besideImport(place: Place, type: Pipeline): Case {
  const { bench, db } = place
  const body = `name\n${Array.from({ length: rows }, (_, row) => `Row ${row}`).join('\n')}\n`
  const shot = {
    method: 'POST',
    contentType: 'text/csv',
    make: () => ({ path: `${pathOf(type)}/import`, body }),
    token: bench.loaded.token,
  } as const
  const kontor = async (): Promise<Side> => {
    const flow = await flowIn(bench, type, onCreation(type.key), computation)
    const side = await withWorker(place, [flow], async () => {
      const importing = load({ url: bench.kontorUrl, connections: 1, requests: 1 }, shot)
      const waited = await longestWait(place)
      await importing
      await runsEnded(db, flow, rows)
      return waited
    })
    await inside(bench, type)('DELETE', flow.path)
    return side
  }
  return { name: `a run begins beside ${rows} rows`, unit: 'ms', rounds: 1, kontor, aims: { p50AtMostMs: 1_000 } }
}

/** The cost of a flow's trigger for the caller that creates a record; no worker runs. */
async function listenedTo({ bench, db }: Place, withListener: Pipeline, withoutListener: Pipeline): Promise<Case> {
  const listening = await flowIn(bench, withListener, onCreation(withListener.key), computation)
  bench.atEnd(async () => {
    await inside(bench, withListener)('DELETE', listening.path)
    await db.query({ text: 'delete from event_inbox where workspace_id = $1', values: [withListener.workspaceId] })
  })
  const [floor, kontor] = [withoutListener, withListener].map((type) => send('POST', () => pathOf(type), deal))
  if (!floor || !kontor) throw new Error('There are two types')
  return race(bench, { name: 'a creation that a flow hears of', floor, kontor, floorIsKontor: true, aims: { ratioAtLeast: 1 / 1.15 } })
}

/** Memory that a worker gains by 100,000 steps. */
async function memory(place: Place, type: Pipeline): Promise<Case> {
  const four = Array.from({ length: 4 }, () => computation)
  const long = await flowIn(place.bench, type, byHand, repetition(items), ...four)
  const kontor = () =>
    withWorker(place, [long], async (pid) => {
      await putRuns(place.db, long, firstRuns)
      await runsEnded(place.db, long, firstRuns)
      const before = residentMegabytes(pid)
      await putRuns(place.db, long, longRuns)
      await runsEnded(place.db, long, firstRuns + longRuns)
      return { amount: residentMegabytes(pid) - before }
    })
  return { name: 'growth over 100,000 steps', unit: 'MB', rounds: 1, kontor, aims: { amountAtMost: growthMegabytes } }
}
