import { problem } from '#shared/kernel/errors.ts'
import { heldMs, nextSlice, sliceMs } from '#shared/kernel/thread-share.ts'

/** What one question of a caller may compute (page "Beyond", section 2). All that the question computes shares one budget. */
export interface ComputeBudget {
  /** Steps that are left. */
  readonly left: number
  /**
   * Takes steps; a step is about a microsecond of work, such as one candidate of a rule or one clause tested. Throws VALIDATION_ERROR, which
   * names the bound, when there are not enough left.
   */
  take(steps: number): void
  /** Begins the next question of the same work, such as the next step of a run: all steps are left again. */
  refill(): void
  /** Whether the thread has been held for a slice, so that `pause` would wait. */
  isPauseDue(): boolean
  /** Gives the thread back if it has been held for a slice. Call it between pieces of work that take under 10 ms each. */
  pause(): Promise<void>
}

interface Bound {
  readonly steps: number
  readonly bound: string
  /** The budget of a larger question that this one is a part of: what is taken here is taken there, too. */
  readonly within?: ComputeBudget | undefined
}

/**
 * Makes the budget of one question of a workspace: `steps` in all. `bound` is the message of the 400 beyond it: it names the bound and says
 * what would be right.
 */
export function computeBudget(workspaceId: string, { steps, bound, within }: Bound): ComputeBudget {
  let left = steps
  // The first slice begins here.
  heldMs()
  return {
    get left() {
      return left
    },
    take(count) {
      within?.take(count)
      left -= count
      if (left < 0) throw problem('VALIDATION_ERROR', bound)
    },
    refill() {
      left = steps
    },
    isPauseDue: () => heldMs() >= sliceMs,
    async pause() {
      const held = heldMs()
      if (held < sliceMs) return
      await nextSlice(workspaceId, held)
      heldMs()
    },
  }
}
