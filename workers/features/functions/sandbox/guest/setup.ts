import { runLimits } from '#workers/features/functions/sandbox/limits.ts'
import { logLevels, toWorker } from '#workers/features/functions/sandbox/runner/protocol.ts'

/** What our code in an isolate is told of the worker's side; it goes there as JSON. */
export const guestSetup = Object.freeze({ limits: runLimits, kinds: toWorker, levels: logLevels })
export type GuestSetup = typeof guestSetup

/** The one way out of an isolate. No code of the function ever holds it. */
export type Post = (kind: number, number: number, text: string) => void
