import type { SecretRedactor } from '#workers/features/functions/redact-secrets.ts'
import type { Authorship } from '#workers/features/functions/run-rights.ts'

/** A requested run of a function. */
export interface ExecutionRequest {
  readonly id: string
  readonly functionId: string
  /** JSON text. */
  readonly inputText: string
  /** Authors of the runs that wait for this one, and whether their rights limit it beside its caller's. */
  readonly authorship: Authorship
  /** The invoking run's id, and the call depth: the number of runs that wait for this one. */
  readonly parentId: string | null
  readonly depth: number
  /** Secrets read by the waiting runs, since the input may contain one. */
  readonly above: readonly SecretRedactor[]
  /** Ends the run as interrupted. */
  readonly signal: AbortSignal
}
