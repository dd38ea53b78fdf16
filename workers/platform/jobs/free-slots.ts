import type { AnyJob } from '#shared/platform/jobs/job.ts'

/** The workspace of a running attempt and the share that it belongs to; null is the platform. */
export interface SlotHolder {
  readonly workspaceId: string | null
  readonly shareId: string | null
}

/** The number of jobs that may be fetched, and what must not be fetched since it uses all its slots. */
export interface FreeSlots {
  readonly free: number
  readonly full: readonly string[]
}

/** What a loop may fetch: `full` of `within` are shares, of `beyond` workspaces. */
export interface SlotPlan {
  /** Jobs of shares that stay within the slots of one workspace. */
  readonly within: FreeSlots
  /** Jobs of any share, if the first fetch found too few: nobody else's work waits then. */
  readonly beyond: FreeSlots
}

/**
 * Computes the free slots of a job. The workspaces of a share together hold no more slots than one workspace may, except while no other work
 * waits. What a share holds beyond that takes no slot from others: they find the slots free that they would find without it, so at most
 * `2 * concurrency - limit` attempts run. `running` are the attempts of the job, `holders` those of all jobs with the same gate.
 */
export function freeSlots(
  { concurrency, slotsPerWorkspace, gate }: Pick<AnyJob, 'concurrency' | 'slotsPerWorkspace' | 'gate'>,
  running: readonly SlotHolder[],
  holders: readonly SlotHolder[] = running,
): SlotPlan {
  const limit = slotsPerWorkspace ?? gate?.perWorkspace
  const left = concurrency - running.length
  if (limit === undefined) return { within: { free: left, full: [] }, beyond: noSlots }
  const heldByShare = countBy(running, 'shareId')
  const excess = [...heldByShare].reduce((sum, [shareId, held]) => sum + (shareId === null ? 0 : Math.max(0, held - limit)), 0)
  return {
    within: bounded(left + excess, limit, countBy(holders, 'shareId')),
    beyond: bounded(left, limit, countBy(holders, 'workspaceId')),
  }
}

/** No slot for any job. */
export const noSlots: FreeSlots = { free: 0, full: [] }

/** All fetched jobs may belong to the holder with the most slots that is not full, which must not exceed the limit. */
function bounded(free: number, limit: number, held: ReadonlyMap<string | null, number>): FreeSlots {
  const full: string[] = []
  let mostOfOthers = 0
  for (const [id, count] of held) {
    if (id === null) continue
    if (count >= limit) full.push(id)
    else mostOfOthers = Math.max(mostOfOthers, count)
  }
  return { free: Math.min(free, limit - mostOfOthers), full }
}

function countBy(holders: readonly SlotHolder[], key: keyof SlotHolder): Map<string | null, number> {
  const counts = new Map<string | null, number>()
  for (const holder of holders) counts.set(holder[key], (counts.get(holder[key]) ?? 0) + 1)
  return counts
}
