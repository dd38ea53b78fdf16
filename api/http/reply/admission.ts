import type { Context } from 'koa'
import type { AdmittedAnswer, AnswerAdmission, AnswerStage } from '#shared/platform/kernel/process/answer-admission.ts'
import type { RunningCall } from '#shared/platform/kernel/process/running-calls.ts'

/** Bytes of an answer above which it is written and sent in pieces, and admitted by its bytes (docs/contract/limits.md#large-answers). */
export const largeBytes = 256_000

/** The answer of one request, which is admitted for the request's owner, when it is large, until it was sent or the caller has gone. */
export class LargeAnswer {
  readonly #ctx: Context
  readonly #answers: AnswerAdmission
  readonly #isRead: boolean
  #admitted: AdmittedAnswer | undefined

  /** `isRead` tells whether the request only reads: then its answer may be refused. */
  constructor(ctx: Context, answers: AnswerAdmission, isRead: boolean) {
    this.#ctx = ctx
    this.#answers = answers
    this.#isRead = isRead
  }

  /** Admits it as it is measured, before it is read, or as it is kept for all. A repeated read is admitted again. Throws OVERLOADED. */
  async admitUnread(bytes: number): Promise<AdmittedAnswer> {
    this.#admitted?.end()
    return this.#admit(bytes, 'unread')
  }

  /**
   * Admits it as it was made, unless it is admitted already. Throws OVERLOADED when nothing was written: the request only reads, or the answer
   * is a failure, such as the page of a refused form.
   */
  async admitMade(status: number, bytes: number): Promise<AdmittedAnswer> {
    return this.#admitted ?? this.#admit(bytes, this.#isRead || status >= 400 ? 'made' : 'committed')
  }

  async #admit(bytes: number, stage: AnswerStage): Promise<AdmittedAnswer> {
    const { res, state } = this.#ctx
    const answer = await this.#answers.admit((state.call as RunningCall).owner, bytes, stage)
    this.#admitted = answer
    if (res.closed) answer.end()
    else res.once('close', () => answer.end())
    return answer
  }
}
