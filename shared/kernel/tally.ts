/** The most things that are counted at a time; what comes beyond is not. */
const maxKeys = 10_000

/**
 * Counts in memory how often things happen, and hands the counts on together some time after the first: counting costs nobody more than a
 * look-up. What a crash takes along, or cannot be handed on, is lost.
 */
export class Tally {
  readonly #write: (counts: ReadonlyMap<string, number>) => Promise<void>
  readonly #delayMs: number
  #counts = new Map<string, number>()
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> = Promise.resolve()

  /** `write` takes counts by what was counted; it must not fail. */
  constructor(delayMs: number, write: (counts: ReadonlyMap<string, number>) => Promise<void>) {
    this.#delayMs = delayMs
    this.#write = write
  }

  /** Counts one more of this. */
  note(key: string): void {
    const count = this.#counts.get(key) ?? 0
    if (count === 0 && this.#counts.size >= maxKeys) return
    this.#counts.set(key, count + 1)
    this.#timer ??= setTimeout(() => void this.flush(), this.#delayMs).unref()
  }

  /** Hands on what has been counted until now; resolves once it and all before it are through. Call it before the process ends. */
  flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const counts = this.#counts
    this.#counts = new Map()
    if (counts.size > 0) this.#writing = this.#writing.then(() => this.#write(counts))
    return this.#writing
  }
}
