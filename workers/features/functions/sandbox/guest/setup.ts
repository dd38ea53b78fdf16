import { runLimits } from '#workers/features/functions/sandbox/limits.ts'
import { logLevels, toWorker } from '#workers/features/functions/sandbox/runner/protocol.ts'

/** Constants for the platform's code in an isolate, which receives them as JSON. */
export const guestSetup = Object.freeze({ limits: runLimits, kinds: toWorker, levels: logLevels })
export type GuestSetup = typeof guestSetup

/** Sends a frame out of the isolate. Code of the workspace's function never gets this callback, the only way out. */
export type Post = (kind: number, number: number, text: string) => void

/** Built-in functions of an isolate, saved before code of the function can change them. */
export interface Intrinsics {
  readonly parse: typeof JSON.parse
  readonly stringify: (value: unknown) => string | undefined
  readonly create: typeof Object.create
  readonly defineProperty: typeof Object.defineProperty
  readonly freeze: typeof Object.freeze
  readonly tagOf: typeof Object.prototype.toString
  readonly apply: typeof Reflect.apply
  readonly slice: typeof String.prototype.slice
  readonly SavedString: typeof String
  readonly SavedError: typeof Error
  readonly SavedTypeError: typeof TypeError
  readonly SavedPromise: typeof Promise
  /** Evaluates a script in the global scope. */
  readonly evaluate: (source: string) => unknown
}

/**
 * Saves the intrinsics. The isolate evaluates the text of this function, so the function may use nothing else than globals of the isolate.
 */
export function saveIntrinsics(): Intrinsics {
  const { parse, stringify } = JSON
  const { create, defineProperty, freeze } = Object
  const { apply } = Reflect
  const [tagOf, slice] = [Object.prototype.toString, String.prototype.slice]
  const [SavedString, SavedError, SavedTypeError, SavedPromise] = [String, Error, TypeError, Promise]
  const { eval: evaluate } = globalThis as unknown as { eval: Intrinsics['evaluate'] }
  const constructors = { SavedString, SavedError, SavedTypeError, SavedPromise }
  return { parse, stringify, create, defineProperty, freeze, tagOf, apply, slice, ...constructors, evaluate }
}
