/**
 * Measures elapsed time, and never underestimates it: the system clock may be set back, and the monotonic clock stops while the machine sleeps,
 * so it returns the longer time of the two.
 */
export class Stopwatch {
  #wall = Date.now()
  #monotonic = performance.now()

  restart(): void {
    this.#wall = Date.now()
    this.#monotonic = performance.now()
  }

  /** Milliseconds since it was created or restarted. */
  elapsedMs(): number {
    return Math.max(performance.now() - this.#monotonic, Math.abs(Date.now() - this.#wall))
  }
}
