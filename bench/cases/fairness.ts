import type { Case, Group, Side } from '#bench/case.ts'
import { attackCases } from '#bench/cases/attacks.ts'
import { deal, pathOf } from '#bench/cases/core/records.ts'
import { pathIn, sender } from '#bench/client.ts'
import { makeRule } from '#bench/data/rule.ts'
import { makeFunction, trivial } from '#bench/functions/make.ts'
import { arrivals } from '#bench/jobs/arrivals.ts'
import { type Backlog, clear, fill } from '#bench/jobs/backlog.ts'
import { forgetNotifications, putChanges } from '#bench/jobs/changes.ts'
import { openDatabase } from '#bench/jobs/database.ts'
import { load, type Shot } from '#bench/load.ts'
import { startWorker } from '#bench/servers/worker.ts'
import { exportRecordsJob } from '#shared/core/records/jobs.ts'
import { invokeFunctionJob } from '#shared/features/functions/jobs.ts'

/** Waiting jobs of the noisy workspace. */
const waiting = 100_000

/**
 * A single job of a workspace, alone and during another workspace's hundred thousand waiting jobs of the same kind; and requests during
 * attacks.
 */
export const fairness: Group = {
  name: 'fairness',
  cases: async (bench) => {
    const { loaded, kontorUrl } = bench
    const [noisy, quiet] = [loaded.neighbours[0], loaded.neighbours.at(-1) ?? loaded.neighbours[0]]
    const [ofNoisy, ofQuiet] = [noisy, quiet].map(({ workspaceId }) => sender(kontorUrl, { ...loaded, workspaceId }))
    if (!ofNoisy || !ofQuiet) return []
    await startWorker(bench, 'data,flows,functions')
    const db = openDatabase(bench)
    const backlog = { workspaceId: noisy.workspaceId, actorId: loaded.actorId }
    const single = (shot: Omit<Shot, 'token'>) => () =>
      load({ url: kontorUrl, connections: 1, seconds: 2 * bench.seconds }, { ...shot, token: loaded.token })
    const beside = (noise: Backlog, work: () => Promise<Side>) => async () => {
      await fill(db, noise, waiting)
      try {
        return await work()
      } finally {
        await clear(db, noise)
      }
    }
    const noisyFunction = await makeFunction(ofNoisy, trivial)
    const invoke = single({ method: 'POST', make: () => ({ path: pathIn(quiet, `${ownFunction}/invoke`), body: '{}' }) })
    const ownFunction = await makeFunction(ofQuiet, trivial)
    const exportNothing = single({ method: 'GET', make: () => ({ path: `${pathOf({ ...quiet, key: 'payments' })}/export` }) })
    const runs = {
      ...backlog,
      job: invokeFunctionJob,
      payload: { functionId: noisyFunction.split('/').at(-1), input: 'null', rights: 'caller' },
    }
    const exports = { ...backlog, job: exportRecordsJob, payload: { typeKey: noisy.key, q: null, filter: null, sort: null, dir: null } }
    for (const [send, type] of [
      [ofQuiet, quiet],
      [sender(kontorUrl, loaded), loaded.typical],
    ] as const)
      await makeRule(send, type.key)
    const notify = () => arrivals(db, quiet.workspaceId, () => ofQuiet('POST', `/records/${quiet.key}`, deal(0)), 2 * bench.seconds)
    return [
      alike('a run beside 100,000 runs', invoke, beside(runs, invoke)),
      alike('an export beside 100,000 exports', exportNothing, beside(exports, exportNothing)),
      alike('a notification beside 100,000', notify, async () => {
        await putChanges(db, loaded.typical, waiting)
        try {
          return await notify()
        } finally {
          await forgetNotifications(db, loaded.typical)
        }
      }),
      ...(await attackCases(bench)),
    ]
  },
}

const alike = (name: string, floor: Case['kontor'], kontor: Case['kontor']): Case => ({
  name,
  unit: 'jobs/s',
  rounds: 1,
  compares: 'p50Ms',
  floor,
  kontor,
  aims: { p50AtMostMs: 70 },
})
