import { countOpenRunsByState } from '#shared/features/flows/runs/views-store.ts'
import type { Executor } from '#shared/platform/db/database.ts'

/** Number of open runs of all workspaces by state: `queued`, `running`, or the kind of wait. */
export interface OpenRuns {
  readonly state: 'queued' | 'running' | 'time' | 'function' | 'call'
  readonly count: number
}

/** Counts open runs by state, up to 100,000 in all. */
export const countOpenRuns = (db: Executor): Promise<OpenRuns[]> => db.query<OpenRuns>(countOpenRunsByState())
