import { problem } from '#shared/platform/kernel/errors.ts'
import { othersCalled } from '#shared/platform/kernel/process/thread-share.ts'

/** Milliseconds that an answer waits for its admission before OVERLOADED (page "Beyond", section 2). */
const maxWaitMs = 3_000

interface WaitingAnswer {
  readonly bytes: number
  readonly admit: () => void
}

/** The answers of one workspace: bytes that are read, turned into views or written, and answers that wait. */
interface Line {
  bytes: number
  readonly waiting: WaitingAnswer[]
}

/**
 * Admits large answers of a process by their bytes. All together have at most `maxBytes` in flight, those of a workspace a quarter while
 * another workspace calls. An answer that is larger is admitted when its workspace has none in flight. First in, first out for a
 * workspace, round-robin among workspaces.
 */
export class AnswerAdmission {
  readonly #maxBytes: number
  readonly #hasOthers: (workspaceId: string) => boolean
  /** Lines by workspace. The map's order is the round-robin order. */
  readonly #lines = new Map<string, Line>()
  #bytes = 0

  /** `hasOthers` tells whether other workspaces call. */
  constructor(maxBytes: number, hasOthers: (workspaceId: string) => boolean = othersCalled) {
    this.#maxBytes = maxBytes
    this.#hasOthers = hasOthers
  }

  /** Admits an answer and returns a function that ends it; it may be called twice. Throws OVERLOADED after 3 s. */
  async admit(workspaceId: string, size: number): Promise<() => void> {
    // A line without bytes counts as empty.
    const bytes = Math.max(1, size)
    const line = this.#lines.get(workspaceId) ?? { bytes: 0, waiting: [] }
    this.#lines.set(workspaceId, line)
    if (line.waiting.length === 0 && this.#fits(workspaceId, line, bytes)) this.#begin(line, bytes)
    else await this.#wait(workspaceId, line, bytes)
    let isOpen = true
    return () => {
      if (!isOpen) return
      isOpen = false
      line.bytes -= bytes
      this.#bytes -= bytes
      this.#removeIfEmpty(workspaceId, line)
      this.#admitWaiting()
    }
  }

  #fits(workspaceId: string, line: Line, bytes: number): boolean {
    const own = this.#lines.size > 1 || this.#hasOthers(workspaceId) ? this.#maxBytes / 4 : this.#maxBytes
    const isWithin = line.bytes + bytes <= own && this.#bytes + bytes <= this.#maxBytes
    return isWithin || (line.bytes === 0 && (this.#bytes === 0 || bytes > own))
  }

  #begin(line: Line, bytes: number): void {
    line.bytes += bytes
    this.#bytes += bytes
  }

  #wait(workspaceId: string, line: Line, bytes: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const limit = setTimeout(() => {
        line.waiting.splice(line.waiting.indexOf(answer), 1)
        this.#removeIfEmpty(workspaceId, line)
        reject(problem('OVERLOADED', 'Other large answers of this workspace took 3 s; try again soon', { expected: true }))
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
    for (const [workspaceId, line] of [...this.#lines]) {
      const next = line.waiting[0]
      if (!next || !this.#fits(workspaceId, line, next.bytes)) continue
      line.waiting.shift()
      this.#begin(line, next.bytes)
      // The workspace moves behind the other ones.
      this.#lines.delete(workspaceId)
      this.#lines.set(workspaceId, line)
      next.admit()
    }
  }

  #removeIfEmpty(workspaceId: string, line: Line): void {
    if (line.bytes === 0 && line.waiting.length === 0) this.#lines.delete(workspaceId)
  }
}
