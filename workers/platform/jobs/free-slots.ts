import type { AnyJob } from '#shared/platform/jobs/job.ts'

/** How many jobs may be taken, whosever they are, and which workspaces have all the slots that they may have. */
export interface FreeSlots {
  readonly free: number
  readonly full: string[]
}

/** What a process may take of a job while it runs attempts for these workspaces, an entry for each attempt; null is the platform itself. */
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
  // All that are taken may be of the one that has most.
  return { free: Math.min(free, slotsPerWorkspace - mostOfOthers), full }
}
