import { runLimits } from '#workers/features/functions/sandbox/limits.ts'

/**
 * Kinds of frames from the worker to a runner. `run` carries the source, a line of SDK methods separated by blanks, and the input as JSON;
 * its number is the length of the source. `answer` and `refusal` carry the id of their SDK call.
 */
export const toRunner = Object.freeze({ run: 1, check: 2, answer: 3, refusal: 4 })

/**
 * Kinds of frames from a runner to the worker. `returned` and `threw`: the handler has ended. `done`: the run has ended, with none of its
 * SDK calls pending. `timer` is sent by the isolate only and never leaves the runner: the function called setTimeout.
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
  done: 10,
})

/** The levels of console output (docs/contract/functions.md#invocation-result); the number of a log frame is an index of this list. */
export const logLevels = Object.freeze(['log', 'info', 'warn', 'error'] as const)
export type LogLevel = (typeof logLevels)[number]

// A character of a JavaScript string takes at most three bytes of UTF-8.
const maxBytes = (characters: number): number => 3 * characters

/** Maximum bytes of the texts of frames from a runner. A runner that exceeds them is compromised, and is killed. */
export const workerAccepts = Object.freeze({
  [toWorker.ready]: 0,
  [toWorker.started]: 0,
  [toWorker.log]: maxBytes(runLimits.logBytes + 1),
  [toWorker.call]: maxBytes(runLimits.argumentCharacters),
  [toWorker.returned]: maxBytes(runLimits.jsonCharacters),
  [toWorker.threw]: maxBytes(runLimits.errorCharacters),
  [toWorker.memory]: 0,
  [toWorker.checked]: maxBytes(runLimits.errorCharacters),
  [toWorker.done]: 0,
})

/** Maximum bytes of the texts of frames to a runner. The input of `run` has quotes around its inexact numbers. */
export const runnerAccepts = Object.freeze({
  [toRunner.run]: 2 * maxBytes(runLimits.jsonCharacters) + runLimits.sourceBytes + 64 * 1024,
  [toRunner.check]: runLimits.sourceBytes,
  [toRunner.answer]: maxBytes(runLimits.jsonCharacters),
  [toRunner.refusal]: maxBytes(runLimits.jsonCharacters),
})
