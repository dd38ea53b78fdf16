/**
 * Measures how long ago something was, and rather says too much than too little: the system's clock can be set back, and the process's own
 * rests while its machine sleeps, so it takes the longer of what the two say.
 */
export class Stopwatch {
  #wall = Date.now()
  #own = performance.now()

  restart(): void {
    this.#wall = Date.now()
    this.#own = performance.now()
  }

  /** Milliseconds since it was made or started again. */
  elapsedMs(): number {
    return Math.max(performance.now() - this.#own, Math.abs(Date.now() - this.#wall))
  }
}
