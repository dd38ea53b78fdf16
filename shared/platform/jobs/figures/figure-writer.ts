import type { Executor } from '#shared/platform/db/database.ts'
import { type AttemptFigures, takeAttemptFigures } from '#shared/platform/jobs/figures/attempt-figures.ts'
import { addFigures, type WorkspaceFigures } from '#shared/platform/jobs/figures/store.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'
import type { Logger } from '#shared/platform/kernel/log.ts'
import { countRefusal } from '#shared/platform/kernel/process/part.ts'
import { type OwnerFigures, takeOwnerFigures } from '#shared/platform/kernel/process/work-figures.ts'
import { workspaceOf } from '#shared/platform/kernel/process/work-owner.ts'

/** Milliseconds between two writes: rates are older by this than the present minute. */
const writeEveryMs = 5_000

/** Writes what this process did, until it is closed, which writes the rest. Figures that cannot be written are lost. */
export function openFigureWriter(db: Executor, now: () => Date, log: Logger): { readonly close: () => Promise<void> } {
  let writing: Promise<void> = Promise.resolve()
  const write = () => {
    writing = writing.then(() =>
      writeFigures(db, now()).catch((error: unknown) => {
        if (!countRefusal(error)) log.warn({ err: error }, 'could not write the figures of work')
      }),
    )
    return writing
  }
  const timer = setInterval(() => void write(), writeEveryMs).unref()
  return {
    close: () => {
      clearInterval(timer)
      return write()
    },
  }
}

/** Writes what this process did since the last write. */
export async function writeFigures(db: Executor, now: Date): Promise<void> {
  const { attempts, times } = takeAttemptFigures()
  await addFigures(db, now, attempts.map(inWholeMs), times, sumByWorkspace(takeOwnerFigures(), attempts))
}

const inWholeMs = (attempt: AttemptFigures): AttemptFigures => ({ ...attempt, runMs: Math.round(attempt.runMs) })

function sumByWorkspace(owners: ReadonlyMap<string, OwnerFigures>, attempts: readonly AttemptFigures[]): WorkspaceFigures[] {
  const sums = new Map<string, { -readonly [Key in keyof WorkspaceFigures]: WorkspaceFigures[Key] }>()
  const sumOf = (workspaceId: string) => {
    const sum = sums.get(workspaceId) ?? { workspaceId, calls: 0, computingMs: 0, databaseMs: 0, jobs: 0, jobMs: 0 }
    sums.set(workspaceId, sum)
    return sum
  }
  for (const [owner, { calls, computingMs, databaseMs }] of owners) {
    const sum = sumOf(workspaceOf(owner))
    sum.calls += calls
    sum.computingMs += computingMs
    sum.databaseMs += databaseMs
  }
  for (const { workspaceId, done, failed, runMs } of attempts) {
    if (workspaceId === null) continue
    const sum = sumOf(workspaceId)
    sum.jobs += done + failed
    sum.jobMs += runMs
  }
  return [...sums.values()]
    .filter(({ workspaceId }) => isUuid(workspaceId))
    .map(({ workspaceId, calls, computingMs, databaseMs, jobs, jobMs }) => ({
      workspaceId,
      calls,
      computingMs: Math.round(computingMs),
      databaseMs: Math.round(databaseMs),
      jobs,
      jobMs: Math.round(jobMs),
    }))
}
