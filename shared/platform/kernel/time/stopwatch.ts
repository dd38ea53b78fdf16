/**
 * Measures elapsed time; it may overestimate but not underestimate. The system clock can be set back, and the process's monotonic clock
 * stops while the machine sleeps, so it returns the longer of the two.
 */
export class Stopwatch {
  #wall = Date.now()
  #monotonic = performance.now()

  restart(): void {
    this.#wall = Date.now()
    this.#monotonic = performance.now()
  }

  /** Milliseconds since it was made or started again. */
  elapsedMs(): number {
    return Math.max(performance.now() - this.#monotonic, Math.abs(Date.now() - this.#wall))
  }
}
