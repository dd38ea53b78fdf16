import { runLimits } from '#workers/features/functions/sandbox/limits.ts'

/** What the worker says to a runner. `answer` and `refusal` carry the number of the SDK call that they settle. */
export const toRunner = Object.freeze({ run: 1, check: 2, answer: 3, refusal: 4 })

/**
 * What a runner says to the worker. `returned` and `threw` are the handler's end, `quiet` the run's: no call that it made is under way.
 * `timer` never leaves the runner: it is what the function's setTimeout asks of it.
 */
export const toWorker = Object.freeze({
  ready: 1,
  started: 2,
  log: 3,
  call: 4,
  returned: 5,
  threw: 6,
  memory: 7,
  checked: 8,
  timer: 9,
  quiet: 10,
})

/** The levels of console output (document 2, Function); a log frame's number is a place in this list. */
export const logLevels = Object.freeze(['log', 'info', 'warn', 'error'] as const)
export type LogLevel = (typeof logLevels)[number]

// A character of a JavaScript string takes at most three bytes of UTF-8.
const bytesOf = (characters: number): number => 3 * characters

/** Bytes that each kind of frame may bring from a runner. The runner keeps to them by itself; one that does not is killed. */
export const workerAccepts = Object.freeze({
  [toWorker.ready]: 0,
  [toWorker.started]: 0,
  [toWorker.log]: bytesOf(runLimits.logBytes + 1),
  [toWorker.call]: bytesOf(runLimits.argumentCharacters),
  [toWorker.returned]: bytesOf(runLimits.jsonCharacters),
  [toWorker.threw]: bytesOf(runLimits.errorCharacters),
  [toWorker.memory]: 0,
  [toWorker.checked]: bytesOf(runLimits.errorCharacters),
  [toWorker.quiet]: 0,
})

/** Bytes that each kind of frame may bring to a runner. A run brings source, input and method names, quoted once more as JSON. */
export const runnerAccepts = Object.freeze({
  [toRunner.run]: 2 * bytesOf(runLimits.jsonCharacters + runLimits.sourceBytes) + 64 * 1024,
  [toRunner.check]: runLimits.sourceBytes,
  [toRunner.answer]: bytesOf(runLimits.jsonCharacters),
  [toRunner.refusal]: bytesOf(runLimits.jsonCharacters),
})
