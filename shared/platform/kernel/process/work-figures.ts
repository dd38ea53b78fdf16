import type { WorkOwner } from '#shared/platform/kernel/process/work-owner.ts'

/** What a process did for an owner of work. */
export interface OwnerFigures {
  /** Answered requests. */
  calls: number
  /** Thread time of computations that yield, and processor time of functions. */
  computingMs: number
  /** Time in which statements ran. */
  databaseMs: number
}

/** The most owners that are counted between two writes; what is done for others is not. */
const maxOwners = 10_000

let figures = new Map<string, OwnerFigures>()

/** Returns what was counted in this process, by owner, and counts from zero again. */
export function takeOwnerFigures(): ReadonlyMap<string, OwnerFigures> {
  const taken = figures
  figures = new Map()
  return taken
}

/** Adds to a figure of an owner. The platform's own work is not counted. */
export function addToFigure(owner: WorkOwner, figure: keyof OwnerFigures, amount: number): void {
  if (owner === null) return
  let found = figures.get(owner)
  if (!found) {
    if (figures.size >= maxOwners) return
    found = { calls: 0, computingMs: 0, databaseMs: 0 }
    figures.set(owner, found)
  }
  found[figure] += amount
}
