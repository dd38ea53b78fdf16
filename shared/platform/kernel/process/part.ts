import type { UnavailablePart } from '#shared/platform/kernel/errors.ts'
import type { Logger } from '#shared/platform/kernel/log.ts'
import { Stopwatch } from '#shared/platform/kernel/time/stopwatch.ts'

/** Milliseconds between two probes of a part that is away. */
const probeEveryMs = 1_000

type PartName = 'database' | 'file store' | 'mail server'

/** The parts outside the process that its work depends on. */
export interface Parts {
  readonly database: Part
  readonly fileStore: Part
  /** The operator's mail server (`SMTP_URL`). A workspace's own server is no part. */
  readonly mailServer: Part
}

/** Creates the parts of a process; all count as up until something failed. */
export const createParts = (log: Logger): Parts =>
  Object.freeze({
    database: new Part('database', log),
    fileStore: new Part('file store', log),
    mailServer: new Part('mail server', log),
  })

/**
 * Whether a part outside the process can be reached. An outage is one line in the log when it begins and one when it ends, with the
 * failures and the refused work of the time between, so what it causes is not logged by itself (`countRefusal`).
 */
export class Part implements UnavailablePart {
  readonly name: PartName
  readonly #log: Pick<Logger, 'error' | 'warn'>
  #probe: (() => Promise<unknown>) | undefined
  #isUsed = false
  #timer: NodeJS.Timeout | undefined
  #outage: { readonly lasted: Stopwatch; readonly reason: string; failures: number; refused: number } | undefined

  constructor(name: PartName, log: Pick<Logger, 'error' | 'warn'>) {
    this.name = name
    this.#log = log
  }

  /** Whether this process has tried to reach the part, or probes it. The state of another part is not known here. */
  get isUsed(): boolean {
    return this.#isUsed
  }

  get isUp(): boolean {
    return this.#outage === undefined
  }

  /** Milliseconds since the outage began; 0 while the part is up. */
  get awayMs(): number {
    return this.#outage?.lasted.elapsedMs() ?? 0
  }

  /** Why the part is away, as text for the operator; undefined while it is up. */
  get reason(): string | undefined {
    return this.#outage?.reason
  }

  /** While the part is away, `probe` runs every second; its first success ends the outage. Without a probe only `succeeded` does. */
  probeWith(probe: () => Promise<unknown>): void {
    this.#probe = probe
    this.#isUsed = true
  }

  /** Notes that the part could not be reached. */
  failed(error: unknown): void {
    this.#isUsed = true
    if (this.#outage) {
      this.#outage.failures += 1
      return
    }
    const reason = reasonOf(error)
    this.#outage = { lasted: new Stopwatch(), reason, failures: 1, refused: 0 }
    this.#log.error({ part: this.name, reason }, `the ${this.name} is away`)
    this.#probeLater()
  }

  /** Notes that the part was reached. */
  succeeded(): void {
    this.#isUsed = true
    if (!this.#outage) return
    const { lasted, reason, failures, refused } = this.#outage
    this.#outage = undefined
    clearTimeout(this.#timer)
    const seconds = Math.round(lasted.elapsedMs() / 100) / 10
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
 * Whether work failed because a part is away: by an UNAVAILABLE that names it, or a copy of one, as pg-boss reports failures. It is counted
 * then, and its caller must not log it: the part logs the outage, once. A failure that is not expected is left to be logged while the part is
 * up: a store without room, which can still be read.
 */
export function countRefusal(error: unknown): boolean {
  const { part, expected } = (error ?? {}) as { readonly part?: unknown; readonly expected?: boolean }
  if (!(part instanceof Part)) return false
  part.countRefusal()
  return expected === true || !part.isUp
}

/** An error without its stack. The error of several refused addresses has a code, but no message. */
function reasonOf(error: unknown): string {
  const { message, code } = (error ?? {}) as { readonly message?: string; readonly code?: string }
  return message || code || String(error)
}
