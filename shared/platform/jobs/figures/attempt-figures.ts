import { stepOf } from '#shared/platform/jobs/figures/time-steps.ts'

/** The attempts of one kind of job for one workspace. */
export interface AttemptFigures {
  readonly job: string
  /** Null for the platform. */
  readonly workspaceId: string | null
  /** Attempts that ended their job, with a result or with the caller's failure. */
  done: number
  failed: number
  runMs: number
}

/** How many jobs of a kind waited for a time of this step before their first attempt, and how many attempts ran for one. */
export interface TimeFigures {
  readonly job: string
  readonly step: number
  waited: number
  ran: number
}

/** The most pairs of a kind and a workspace that are counted between two writes; other attempts are not. */
const maxPairs = 10_000

const createFigures = () => ({ attempts: new Map<string, AttemptFigures>(), times: new Map<string, TimeFigures>() })

let figures = createFigures()

/** Returns what was counted of this process's attempts, and counts from zero again. */
export function takeAttemptFigures(): { readonly attempts: AttemptFigures[]; readonly times: TimeFigures[] } {
  const { attempts, times } = figures
  figures = createFigures()
  return { attempts: [...attempts.values()], times: [...times.values()] }
}

function noteTime(job: string, kind: 'waited' | 'ran', ms: number): void {
  const step = stepOf(ms)
  const key = `${job} ${step}`
  const found = figures.times.get(key) ?? { job, step, waited: 0, ran: 0 }
  figures.times.set(key, found)
  found[kind] += 1
}

/** Notes how long a job waited before its first attempt. */
export function noteWait(job: string, ms: number): void {
  noteTime(job, 'waited', ms)
}

/** Notes an attempt that ended. */
export function noteAttempt(job: string, workspaceId: string | null, outcome: 'done' | 'failed', ms: number): void {
  noteTime(job, 'ran', ms)
  const key = `${job} ${workspaceId ?? ''}`
  let found = figures.attempts.get(key)
  if (!found) {
    if (figures.attempts.size >= maxPairs) return
    found = { job, workspaceId, done: 0, failed: 0, runMs: 0 }
    figures.attempts.set(key, found)
  }
  found[outcome] += 1
  found.runMs += ms
}
