/** Milliseconds from which a wait says that the process, or its machine, is short of time (docs/contract/limits.md#searches). */
const longMs = 100

/** How often the thread is observed, in milliseconds. */
const everyMs = 100

/**
 * Notes when work of this process last had to wait: for its thread, which a late timer shows, or for a connection. It tells a statement
 * that takes long by itself from one that takes long because of other work.
 */
export class LongWaits {
  #last = Number.NEGATIVE_INFINITY
  #expected = performance.now() + everyMs
  readonly #timer: NodeJS.Timeout

  constructor() {
    this.#timer = setInterval(() => {
      const now = performance.now()
      this.note(now - this.#expected)
      this.#expected = now + everyMs
    }, everyMs)
    this.#timer.unref()
  }

  /** Notes a wait of some milliseconds that has ended. */
  note(ms: number): void {
    if (ms > longMs) this.#last = performance.now()
  }

  /** Whether a long wait ended since an instant of `performance.now()`, or the thread is late now. */
  hadSince(instant: number): boolean {
    this.note(performance.now() - this.#expected)
    return this.#last >= instant
  }

  close(): void {
    clearInterval(this.#timer)
  }
}
