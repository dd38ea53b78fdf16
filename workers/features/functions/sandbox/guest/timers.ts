import type { GuestSetup, Intrinsics, Post } from '#workers/features/functions/sandbox/guest/setup.ts'
import type { GuestText } from '#workers/features/functions/sandbox/guest/text.ts'

export interface Timers {
  readonly setTimeout: (action: unknown, delay?: unknown, ...values: unknown[]) => number
  readonly clearTimeout: (timer?: unknown) => void
  /** Calls the action of a timer that is due. An error that it throws ends the run. */
  readonly fire: (timer: number) => void
}

/**
 * Creates the timers of a run. The runner measures the time; the actions stay in the isolate. A cleared timer counts against the limit of
 * timers until the time at which it would have fired. The isolate evaluates the text of this function, so the function may use only its
 * parameters.
 */
export function createTimers(intrinsics: Intrinsics, { messageOf }: GuestText, post: Post, { limits, kinds }: GuestSetup): Timers {
  const { apply, create, SavedError, SavedTypeError } = intrinsics
  const actions = create(null) as Record<number, (() => void) | undefined>
  let lastTimer = 0
  let pending = 0

  return {
    setTimeout: (action, delay, ...values) => {
      if (typeof action !== 'function') throw new SavedTypeError('setTimeout takes a function')
      if (pending >= limits.timers) throw new SavedError(`a run may have ${limits.timers} timers at a time`)
      const delayText = `${+(delay as number)}`
      pending += 1
      lastTimer += 1
      actions[lastTimer] = () => apply(action, undefined, values)
      post(kinds.timer, lastTimer, delayText)
      return lastTimer
    },
    clearTimeout: (timer) => {
      if (typeof timer === 'number') delete actions[timer]
    },
    fire: (timer) => {
      const action = actions[timer]
      pending -= 1
      delete actions[timer]
      try {
        action?.()
      } catch (thrown) {
        post(kinds.threw, 0, messageOf(thrown))
        post(kinds.done, 0, '')
      }
    },
  }
}
