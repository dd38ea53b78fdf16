import { problem } from '#shared/platform/kernel/errors.ts'
import { othersCalled } from '#shared/platform/kernel/process/running-calls.ts'
import { shareOf, type WorkOwner } from '#shared/platform/kernel/process/work-owner.ts'

/** Milliseconds that an answer waits for its admission before OVERLOADED (page "Beyond", section 2). */
const maxWaitMs = 3_000

interface WaitingAnswer {
  readonly bytes: number
  readonly admit: () => void
}

/** The answers of one share: bytes that are read, turned into views or written, and answers that wait. */
interface Line {
  bytes: number
  readonly waiting: WaitingAnswer[]
}

/**
 * Admits large answers of a process by their bytes. All together have at most `maxBytes` in flight, those of a share a quarter while
 * another share calls. An answer that is larger is admitted when its share has none in flight. First in, first out for a share, round-robin
 * among shares.
 */
export class AnswerAdmission {
  readonly #maxBytes: number
  readonly #hasOthers: (share: string) => boolean
  /** Lines by share. The map's order is the round-robin order. */
  readonly #lines = new Map<string, Line>()
  #bytes = 0

  /** `hasOthers` tells whether other shares call. */
  constructor(maxBytes: number, hasOthers: (share: string) => boolean = othersCalled) {
    this.#maxBytes = maxBytes
    this.#hasOthers = hasOthers
  }

  /** Admits an answer and returns a function that ends it; it may be called twice. Throws OVERLOADED after 3 s. */
  async admit(owner: WorkOwner, size: number): Promise<() => void> {
    const share = shareOf(owner ?? '')
    // A line without bytes counts as empty.
    const bytes = Math.max(1, size)
    const line = this.#lines.get(share) ?? { bytes: 0, waiting: [] }
    this.#lines.set(share, line)
    if (line.waiting.length === 0 && this.#fits(share, line, bytes)) this.#begin(line, bytes)
    else await this.#wait(share, line, bytes)
    let isOpen = true
    return () => {
      if (!isOpen) return
      isOpen = false
      line.bytes -= bytes
      this.#bytes -= bytes
      this.#removeIfEmpty(share, line)
      this.#admitWaiting()
    }
  }

  #fits(share: string, line: Line, bytes: number): boolean {
    const own = this.#lines.size > 1 || this.#hasOthers(share) ? this.#maxBytes / 4 : this.#maxBytes
    const isWithin = line.bytes + bytes <= own && this.#bytes + bytes <= this.#maxBytes
    return isWithin || (line.bytes === 0 && (this.#bytes === 0 || bytes > own))
  }

  #begin(line: Line, bytes: number): void {
    line.bytes += bytes
    this.#bytes += bytes
  }

  #wait(share: string, line: Line, bytes: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const limit = setTimeout(() => {
        line.waiting.splice(line.waiting.indexOf(answer), 1)
        this.#removeIfEmpty(share, line)
        reject(
          problem('OVERLOADED', 'Other large answers of this workspace, or of others of its owner, took 3 s; try again soon', {
            expected: true,
          }),
        )
      }, maxWaitMs)
      const answer = {
        bytes,
        admit: () => {
          clearTimeout(limit)
          resolve()
        },
      }
      line.waiting.push(answer)
    })
  }

  #admitWaiting(): void {
    for (const [share, line] of [...this.#lines]) {
      const next = line.waiting[0]
      if (!next || !this.#fits(share, line, next.bytes)) continue
      line.waiting.shift()
      this.#begin(line, next.bytes)
      // The share moves behind the other ones.
      this.#lines.delete(share)
      this.#lines.set(share, line)
      next.admit()
    }
  }

  #removeIfEmpty(share: string, line: Line): void {
    if (line.bytes === 0 && line.waiting.length === 0) this.#lines.delete(share)
  }
}
