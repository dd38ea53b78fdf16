import type { AnyJob } from '#shared/platform/jobs/job.ts'

/** The number of jobs that may be fetched, and the workspaces whose jobs must not be fetched since they use all their slots. */
export interface FreeSlots {
  readonly free: number
  readonly full: string[]
}

/** Computes the free slots of a job. `running` has the workspace of each running attempt; null is the platform. */
export function freeSlots(
  { concurrency, slotsPerWorkspace }: Pick<AnyJob, 'concurrency' | 'slotsPerWorkspace'>,
  running: readonly (string | null)[],
): FreeSlots {
  const free = concurrency - running.length
  if (slotsPerWorkspace === undefined) return { free, full: [] }
  const full: string[] = []
  let mostOfOthers = 0
  for (const [workspaceId, { length }] of Map.groupBy(running, (workspaceId) => workspaceId)) {
    if (workspaceId === null) continue
    if (length >= slotsPerWorkspace) full.push(workspaceId)
    else mostOfOthers = Math.max(mostOfOthers, length)
  }
  // All fetched jobs may belong to one workspace: to that with the most running attempts, which must not exceed its slots.
  return { free: Math.min(free, slotsPerWorkspace - mostOfOthers), full }
}
