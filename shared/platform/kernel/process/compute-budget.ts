import { problem } from '#shared/platform/kernel/errors.ts'
import { pauseWhenDue, sliceMs, threadHeldMs } from '#shared/platform/kernel/process/thread-share.ts'
import type { WorkOwner } from '#shared/platform/kernel/process/work-owner.ts'

/** Limit on the computation of one query of a caller (docs/contract/limits.md#computing). All parts of the query share one budget. */
export interface ComputeBudget {
  /** Remaining steps. */
  readonly left: number
  /**
   * Takes steps; a step is about a microsecond of work, such as testing one clause. Throws VALIDATION_ERROR that names the bound when too few
   * are left.
   */
  takeSteps(steps: number): void
  /** Restores all steps for the next query that shares this budget, such as the next step of a run. */
  refill(): void
  /** Whether `pause` would wait, because the thread has been held for a slice. */
  isPauseDue(): boolean
  /** Yields the thread if it has been held for a slice. Call it between pieces of work that take under 10 ms each. */
  pause(): Promise<void>
}

interface Bound {
  readonly steps: number
  readonly bound: string
  /** Budget of the enclosing query; steps taken here are also taken there. */
  readonly within?: ComputeBudget | undefined
}

/**
 * Creates the budget of one query with `steps` in total. `bound` is the message of the VALIDATION_ERROR when they are used
 * up: it names the bound and what would be right. The thread is shared with other owners (`scope.db.owner`).
 */
export function computeBudget(owner: WorkOwner, { steps, bound, within }: Bound): ComputeBudget {
  let left = steps
  // Starts the first slice, unless one has begun in this turn of the event loop.
  threadHeldMs(owner)
  return {
    get left() {
      return left
    },
    takeSteps(count) {
      within?.takeSteps(count)
      left -= count
      if (left < 0) throw problem('VALIDATION_ERROR', bound)
    },
    refill() {
      left = steps
    },
    isPauseDue: () => threadHeldMs(owner) >= sliceMs,
    pause: () => pauseWhenDue(owner),
  }
}
