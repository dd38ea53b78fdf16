import { availableParallelism } from 'node:os'
import { runnerLimits } from '#workers/features/functions/sandbox/limits.ts'

/** What can be made to stand still while others have their turn. */
export interface CpuConsumer {
  /** Whose it is. */
  readonly owner: string
  /** Milliseconds of processor time that it has used. */
  readonly busyMs: () => number
  readonly pause: () => void
  readonly resume: () => void
}

/** Lets those that are busy run a few at a time while others are about. */
export interface CpuScheduler {
  /** One begins. It takes turns from the first moment when one of its owner's has been busy lately and for long. */
  readonly begin: (one: CpuConsumer) => void
  /** One has been busy since it was last looked at. */
  readonly reportBusy: (one: CpuConsumer) => void
  /** One has come to its end. It runs again. */
  readonly leave: (one: CpuConsumer) => void
}

/**
 * Keeps cores free of busy runs. A run that somebody waits for takes many short steps in many processes. Where every core is taken, each step
 * waits for the end of a slice, some 3 ms, however low the priority of what has the core: beside four endless functions on four cores a short
 * run took twice its time in the middle, and 2.7 times at the 95th percentile; so 1.3 times. While short runs come and go, a quarter of the
 * cores is for the busy ones, and those that are too many stand still until their turn comes round. Else nothing holds them up.
 */
export function createCpuScheduler(cores = availableParallelism()): CpuScheduler {
  /** Those that take turns, the next one first, and what each had used when its turn began; undefined while it stands still. */
  const circle = new Map<CpuConsumer, number | undefined>()
  /** When one of an owner's that has used much was last seen busy. */
  const busyAt = new Map<string, number>()
  let shortEndedAt = Number.NEGATIVE_INFINITY
  let clock: NodeJS.Timeout | undefined

  const serve = (): void => {
    const isAlone = performance.now() - shortEndedAt > runnerLimits.shortRunWindowMs
    let places = isAlone ? cores : Math.max(1, Math.floor(cores / 4))
    for (const [one, since] of circle) {
      const hasTurn = places-- > 0
      if (hasTurn === (since !== undefined)) continue
      circle.set(one, hasTurn ? one.busyMs() : undefined)
      if (hasTurn) one.resume()
      else one.pause()
    }
    if (circle.size > 1) clock ??= setInterval(next, runnerLimits.turnMs)
    else clock = void clearInterval(clock)
  }

  // Who did not use its turn waits for something else, and is not made to wait for a turn as well.
  const next = (): void => {
    for (const [one, since] of [...circle]) {
      if (since === undefined) continue
      circle.delete(one)
      stepBack(one.owner)
      if (one.busyMs() - since >= runnerLimits.turnMs / 2) circle.set(one, one.busyMs())
    }
    serve()
  }

  /** The waiting ones of an owner go behind all others, so that turns go round by owner however many runs one of them has. */
  const stepBack = (owner: string): void => {
    for (const [one, since] of [...circle]) {
      if (one.owner !== owner || since !== undefined) continue
      circle.delete(one)
      circle.set(one, since)
    }
  }

  const add = (one: CpuConsumer): void => {
    circle.set(one, one.busyMs())
    serve()
  }

  return {
    begin: (one) => {
      for (const [owner, at] of busyAt) if (performance.now() - at > runnerLimits.heavyOwnerWindowMs) busyAt.delete(owner)
      if (busyAt.has(one.owner)) add(one)
    },
    reportBusy: (one) => {
      if (one.busyMs() > runnerLimits.heavyOwnerMs) busyAt.set(one.owner, performance.now())
      if (!circle.has(one)) add(one)
    },
    leave: (one) => {
      if (one.busyMs() <= runnerLimits.fullPriorityMs) shortEndedAt = performance.now()
      if (!circle.has(one)) return
      const isPaused = circle.get(one) === undefined
      circle.delete(one)
      if (isPaused) one.resume()
      serve()
    },
  }
}
