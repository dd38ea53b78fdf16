import type { SecretRedactor } from '#workers/features/functions/redact-secrets.ts'
import type { Authorship } from '#workers/features/functions/run-rights.ts'

/** One run that somebody wants. */
export interface ExecutionRequest {
  readonly id: string
  readonly functionId: string
  /** JSON. */
  readonly inputText: string
  /** Who wrote the runs that wait for this one, and whether their rights bind it beside its caller's. */
  readonly authorship: Authorship
  /** The run that invokes this one, and how many runs wait for it in all. */
  readonly parentId: string | null
  readonly depth: number
  /** What the runs that wait for it have read: a secret may have come with the input. */
  readonly above: readonly SecretRedactor[]
  /** Ends the run as interrupted. */
  readonly signal: AbortSignal
}
