import { problem } from '#shared/platform/kernel/errors.ts'
import { othersCalled } from '#shared/platform/kernel/process/running-calls.ts'
import { shareOf, type WorkOwner } from '#shared/platform/kernel/process/work-owner.ts'

/** Milliseconds that an answer waits for its admission before OVERLOADED (docs/contract/limits.md#large-answers). */
const maxWaitMs = 3_000

/**
 * An answer that is being sent is cut off when an answer of another share waits and none of its pieces was taken in three checks in a row,
 * one every 0.5 s. Checks are counted, not milliseconds: while the thread is held, no bytes move and no check happens.
 */
const checkMs = 500
const maxIdleChecks = 3

/**
 * How far the work on an answer has come: `unread` while its rows are only measured, or its bytes are kept for all; `made` when it is in memory, so that few may wait;
 * `committed` when a refusal would hide that the work was done.
 */
export type AnswerStage = 'unread' | 'made' | 'committed'

interface WaitingAnswer {
  readonly bytes: number
  readonly stage: AnswerStage
  readonly admit: (answer: AdmittedAnswer) => void
}

/** The answers of one share: those that are read, turned into views or sent, and those that wait. */
interface Line {
  bytes: number
  readonly open: Set<AdmittedAnswer>
  readonly waiting: WaitingAnswer[]
}

/** An admitted answer. Call `end` when it was sent or given up; it may be called twice. */
export class AdmittedAnswer {
  readonly #leave: (answer: AdmittedAnswer) => void
  #cut: (() => void) | undefined
  #idleChecks = 0

  constructor(leave: (answer: AdmittedAnswer) => void) {
    this.#leave = leave
  }

  /** Begins to send it. `cut` ends its connection. */
  beginSending(cut: () => void): void {
    this.#cut = cut
  }

  /** Notes that the client has taken a piece. */
  notePiece(): void {
    this.#idleChecks = 0
  }

  /** Checks whether the client takes the answer, and cuts it off when it did not for three checks. */
  check(isInTheWay: boolean): void {
    this.#idleChecks = isInTheWay && this.#cut ? this.#idleChecks + 1 : 0
    if (this.#idleChecks >= maxIdleChecks) this.#cut?.()
  }

  end(): void {
    this.#leave(this)
  }
}

/**
 * Admits large answers of a process by their bytes. All together have at most `maxBytes` in flight; those of a share have three quarters, and
 * one quarter while another share calls, so whoever arrives finds room. An answer counts with a quarter at most. First in, first out for a
 * share, round-robin among shares.
 */
export class AnswerAdmission {
  readonly #maxBytes: number
  readonly #hasOthers: (share: string) => boolean
  /** Lines by share. The map's order is the round-robin order. */
  readonly #lines = new Map<string, Line>()
  #bytes = 0
  #checks: NodeJS.Timeout | undefined

  /** `hasOthers` tells whether other shares call. */
  constructor(maxBytes: number, hasOthers: (share: string) => boolean = othersCalled) {
    this.#maxBytes = maxBytes
    this.#hasOthers = hasOthers
  }

  /** Admits an answer. Throws OVERLOADED after 3 s, and at once when too many bytes of made answers of its share wait. */
  async admit(owner: WorkOwner, size: number, stage: AnswerStage): Promise<AdmittedAnswer> {
    const share = shareOf(owner ?? '')
    const bytes = Math.min(size, this.#maxBytes / 4)
    const line: Line = this.#lines.get(share) ?? { bytes: 0, open: new Set(), waiting: [] }
    this.#lines.set(share, line)
    if (stage === 'committed' || (line.waiting.length === 0 && this.#fits(share, line, bytes))) return this.#begin(share, line, bytes)
    const waitingBytes = line.waiting.reduce((sum, waiting) => sum + (waiting.stage === 'made' ? waiting.bytes : 0), 0)
    if (stage === 'made' && waitingBytes + bytes > this.#limitOf(share)) throw overloaded()
    return this.#wait(share, line, { bytes, stage })
  }

  #limitOf(share: string): number {
    const isAlone = this.#lines.size === (this.#lines.has(share) ? 1 : 0) && !this.#hasOthers(share)
    return (this.#maxBytes / 4) * (isAlone ? 3 : 1)
  }

  #fits(share: string, line: Line, bytes: number): boolean {
    return line.bytes + bytes <= this.#limitOf(share) && this.#bytes + bytes <= this.#maxBytes
  }

  #begin(share: string, line: Line, bytes: number): AdmittedAnswer {
    line.bytes += bytes
    this.#bytes += bytes
    const answer = new AdmittedAnswer((ended) => {
      if (!line.open.delete(ended)) return
      line.bytes -= bytes
      this.#bytes -= bytes
      this.#removeIfEmpty(share, line)
      this.#admitWaiting()
    })
    line.open.add(answer)
    return answer
  }

  #wait(share: string, line: Line, { bytes, stage }: Pick<WaitingAnswer, 'bytes' | 'stage'>): Promise<AdmittedAnswer> {
    return new Promise((resolve, reject) => {
      const limit = setTimeout(() => {
        line.waiting.splice(line.waiting.indexOf(waiting), 1)
        this.#removeIfEmpty(share, line)
        reject(overloaded())
      }, maxWaitMs)
      const waiting: WaitingAnswer = {
        bytes,
        stage,
        admit: (answer) => {
          clearTimeout(limit)
          resolve(answer)
        },
      }
      line.waiting.push(waiting)
      this.#checks ??= setInterval(() => this.#check(), checkMs)
    })
  }

  #admitWaiting(): void {
    for (const [share, line] of [...this.#lines]) {
      for (let next = line.waiting[0]; next && this.#fits(share, line, next.bytes); next = line.waiting[0]) {
        line.waiting.shift()
        next.admit(this.#begin(share, line, next.bytes))
        // The share moves behind the other ones.
        this.#lines.delete(share)
        this.#lines.set(share, line)
      }
    }
  }

  /** While answers wait: cuts off those that are in the way of another share and are not taken. */
  #check(): void {
    const waiting = [...this.#lines.values()].filter((line) => line.waiting.length > 0)
    for (const line of [...this.#lines.values()]) {
      const isInTheWay = waiting.some((other) => other !== line)
      for (const answer of [...line.open]) answer.check(isInTheWay)
    }
    // Others may have stopped calling, which gives a share more room.
    this.#admitWaiting()
    if (waiting.length > 0) return
    clearInterval(this.#checks)
    this.#checks = undefined
  }

  #removeIfEmpty(share: string, line: Line): void {
    if (line.open.size === 0 && line.waiting.length === 0) this.#lines.delete(share)
  }
}

const overloaded = () =>
  problem('OVERLOADED', 'Other large answers took 3 s, or too many wait; try again soon, or ask for less at once', { expected: true })
