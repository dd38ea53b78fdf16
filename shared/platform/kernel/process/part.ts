import type { UnavailablePart } from '#shared/platform/kernel/errors.ts'
import type { Logger } from '#shared/platform/kernel/log.ts'
import { Stopwatch } from '#shared/platform/kernel/time/stopwatch.ts'

/** Milliseconds between two probes of a part that is away. */
const probeEveryMs = 1_000

type PartName = 'database' | 'file store' | 'mail server'

/** The parts of a process: what its work depends on outside of itself. */
export interface Parts {
  readonly database: Part
  readonly fileStore: Part
  /** The operator's mail server (`SMTP_URL`). The mail servers of workspaces' connections are not among the parts. */
  readonly mailServer: Part
}

/** Creates the parts of a process. Each counts as up until its first failure. */
export const createParts = (log: Logger): Parts =>
  Object.freeze({
    database: new Part('database', log),
    fileStore: new Part('file store', log),
    mailServer: new Part('mail server', log),
  })

/**
 * Knows whether a part can be reached. An outage makes two lines in the log: one when it begins, and one when it ends, with the numbers of
 * failures and refusals between. Failures that the outage causes are therefore not logged one by one (`countRefusal`).
 */
export class Part implements UnavailablePart {
  readonly name: PartName
  readonly #log: Pick<Logger, 'error' | 'warn'>
  #probe: (() => Promise<unknown>) | undefined
  #isUsed = false
  #timer: NodeJS.Timeout | undefined
  #outage: { readonly stopwatch: Stopwatch; readonly reason: string; failures: number; refused: number } | undefined

  constructor(name: PartName, log: Pick<Logger, 'error' | 'warn'>) {
    this.name = name
    this.#log = log
  }

  /** Whether this process has tried to reach the part, or probes it. Without either, the process does not know the part's state. */
  get isUsed(): boolean {
    return this.#isUsed
  }

  get isUp(): boolean {
    return this.#outage === undefined
  }

  /** Milliseconds since the outage began; 0 while the part is up. */
  get awayMs(): number {
    return this.#outage?.stopwatch.elapsedMs() ?? 0
  }

  /** Why the part is away, as text for the operator; undefined while it is up. */
  get reason(): string | undefined {
    return this.#outage?.reason
  }

  /** Runs `probe` every second while the part is away; its first success ends the outage. Without a probe, only `succeeded` ends it. */
  probeWith(probe: () => Promise<unknown>): void {
    this.#probe = probe
    this.#isUsed = true
  }

  /** Begins an outage, or counts one more failure of it. */
  failed(error: unknown): void {
    this.#isUsed = true
    if (this.#outage) {
      this.#outage.failures += 1
      return
    }
    const reason = reasonOf(error)
    this.#outage = { stopwatch: new Stopwatch(), reason, failures: 1, refused: 0 }
    this.#log.error({ part: this.name, reason }, `the ${this.name} is away`)
    this.#probeLater()
  }

  /** Ends the outage, if there is one. */
  succeeded(): void {
    this.#isUsed = true
    if (!this.#outage) return
    const { stopwatch, reason, failures, refused } = this.#outage
    this.#outage = undefined
    clearTimeout(this.#timer)
    const seconds = Math.round(stopwatch.elapsedMs() / 100) / 10
    this.#log.warn({ part: this.name, reason, seconds, failures, refused }, `the ${this.name} is back`)
  }

  /** Counts a call, a job or a poll that was refused because the part is away. */
  countRefusal(): void {
    if (this.#outage) this.#outage.refused += 1
  }

  /** Ends the probes. */
  close(): void {
    this.#probe = undefined
    clearTimeout(this.#timer)
  }

  #probeLater(): void {
    if (!this.#probe) return
    this.#timer = setTimeout(async () => {
      const isReached = await this.#probe?.().then(
        () => true,
        () => false,
      )
      if (isReached) this.succeeded()
      else if (this.#outage) this.#probeLater()
    }, probeEveryMs).unref()
  }
}

/**
 * Counts an UNAVAILABLE as a refusal of the part that it names. The error may be a copy of the Problem, as pg-boss emits it. Returns true if the
 * caller must not log the error, because the part logs the outage. Returns false for errors that name no part, and for an unexpected one while
 * its part is up: a full file store can still be read, so no outage is logged for it.
 */
export function countRefusal(error: unknown): boolean {
  const { part, expected } = (error ?? {}) as { readonly part?: unknown; readonly expected?: boolean }
  if (!(part instanceof Part)) return false
  part.countRefusal()
  return expected === true || !part.isUp
}

/** The text of an error, without its stack. Node's error for several refused addresses has a code, but no message. */
function reasonOf(error: unknown): string {
  const { message, code } = (error ?? {}) as { readonly message?: string; readonly code?: string }
  return message || code || String(error)
}
