import { countOpenRunsByState } from '#shared/features/flows/runs/views-store.ts'
import type { Executor } from '#shared/platform/db/database.ts'

/** How many runs have not ended, of all workspaces, and what they are at: `queued`, `running`, or what they wait for. */
export interface OpenRuns {
  readonly state: 'queued' | 'running' | 'time' | 'function' | 'call'
  readonly count: number
}

/** Counts the runs that have not ended, 100,000 at most. */
export const countOpenRuns = (db: Executor): Promise<OpenRuns[]> => db.query<OpenRuns>(countOpenRunsByState())
