import { runLimits } from '#workers/features/functions/sandbox/limits.ts'
import { logLevels, toWorker } from '#workers/features/functions/sandbox/runner/protocol.ts'

/** Constants for the platform's code in an isolate, which receives them as JSON. */
export const guestSetup = Object.freeze({ limits: runLimits, kinds: toWorker, levels: logLevels })
export type GuestSetup = typeof guestSetup

/** Sends a frame out of the isolate. It is the only way out, and the function's code never gets it. */
export type Post = (kind: number, number: number, text: string) => void
