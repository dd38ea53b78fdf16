import type { PlatformScope } from '#shared/core/scope/scope.ts'
import { type RunningWebhook, saveOutcomes } from '#shared/features/webhooks/deliveries/runs-store.ts'
import { webhookTries } from '#shared/features/webhooks/metrics.ts'
import { informOfWebhook } from '#shared/features/webhooks/notices.ts'
import type { DeliveryStatus, WebhookAttempt } from '#shared/features/webhooks/schemas.ts'

/** How a try of a delivery ended; `none` where nothing was sent. `next` is the time of the next one. */
interface Outcome {
  readonly id: string
  readonly round: number
  readonly attempt: WebhookAttempt
  readonly ending: 'taken' | 'failed' | 'gone' | 'none'
  readonly status: DeliveryStatus
  readonly next: Date | null
}

interface Waiting extends Outcome {
  readonly url: string
  readonly saved: PromiseWithResolvers<void>
}

/** Stores the outcomes of a run's tries, those that arrive while a statement runs by the next one. */
export class Outcomes {
  readonly #scope: Pick<PlatformScope, 'db' | 'now'>
  readonly #workspaceId: string
  readonly #webhookId: RunningWebhook['id']
  #waiting: Waiting[] = []
  #saving: Promise<void> | undefined

  constructor(scope: Pick<PlatformScope, 'db' | 'now'>, workspaceId: string, webhookId: string) {
    this.#scope = scope
    this.#workspaceId = workspaceId
    this.#webhookId = webhookId
  }

  /** Stores how a try ended of a webhook with this address. */
  save(url: string, outcome: Outcome): Promise<void> {
    const saved = Promise.withResolvers<void>()
    this.#waiting.push({ ...outcome, url, saved })
    this.#saving ??= this.#saveAll().finally(() => {
      this.#saving = undefined
    })
    return saved.promise
  }

  async #saveAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0)
      try {
        await this.#saveGroup(group)
        for (const { saved } of group) saved.resolve()
      } catch (error) {
        for (const { saved } of group) saved.reject(error)
      }
    }
  }

  async #saveGroup(group: readonly Waiting[]): Promise<void> {
    const { db, now } = this.#scope
    const sent = group.filter(({ ending }) => ending !== 'none')
    const lastTaken = sent.findLast(({ ending }) => ending === 'taken')
    const since = sent.slice(lastTaken ? sent.lastIndexOf(lastTaken) + 1 : 0).find(({ ending }) => ending === 'failed')
    const gone = sent.find(({ ending }) => ending === 'gone')
    const time = now()
    const save = saveOutcomes({
      workspaceId: this.#workspaceId,
      webhookId: this.#webhookId,
      outcomes: JSON.stringify(group.map(({ id, round, attempt, status, next }) => ({ id, round, attempt, status, next }))),
      ending: gone ? 'gone' : (sent.at(-1)?.ending ?? 'none'),
      failedSince: since?.attempt.at,
      isFresh: lastTaken !== undefined,
      takenAt: lastTaken?.attempt.at,
      now: time,
    })
    if (gone) {
      const subject = { workspaceId: this.#workspaceId, id: this.#webhookId, url: gone.url, since: gone.attempt.at }
      await db.transaction(async (tx) => {
        await tx.query(save)
        await informOfWebhook(tx, 'gone', subject)
      })
    } else await db.query(save)
    for (const { ending } of sent) webhookTries.inc({ outcome: ending })
  }
}
