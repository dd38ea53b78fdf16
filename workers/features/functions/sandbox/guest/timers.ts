import type { Intrinsics } from '#workers/features/functions/sandbox/guest/intrinsics.ts'
import type { GuestSetup, Post } from '#workers/features/functions/sandbox/guest/setup.ts'
import type { GuestText } from '#workers/features/functions/sandbox/guest/text.ts'

export interface Timers {
  readonly setTimeout: (action: unknown, delay?: unknown, ...values: unknown[]) => number
  readonly clearTimeout: (timer?: unknown) => void
  /** The time of a timer has come. What its action throws ends the run. */
  readonly fire: (timer: number) => void
}

/**
 * Makes the timers of a run: the runner keeps the time, what is to be called stays here. A cleared timer counts until its time has come.
 * Its text is evaluated in the isolate, so it names nothing outside itself.
 */
export function makeTimers(kept: Intrinsics, { messageOf }: GuestText, post: Post, { limits, kinds }: GuestSetup): Timers {
  const { apply, create, Failure, WrongType } = kept
  const actions = create(null) as Record<number, (() => void) | undefined>
  let made = 0
  let pending = 0

  return {
    setTimeout: (action, delay, ...values) => {
      if (typeof action !== 'function') throw new WrongType('setTimeout takes a function')
      if (pending >= limits.timers) throw new Failure(`a run may have ${limits.timers} timers at a time`)
      const delayText = `${+(delay as number)}`
      pending += 1
      made += 1
      actions[made] = () => apply(action, undefined, values)
      post(kinds.timer, made, delayText)
      return made
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
        post(kinds.quiet, 0, '')
      }
    },
  }
}
