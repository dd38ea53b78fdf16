import type { EventFamily } from '#shared/core/events/event-type.ts'
import type { PlatformScope, Scope } from '#shared/core/scope/scope.ts'
import {
  beginRun,
  disableWebhook,
  endRun,
  findFirstTries,
  findLateWebhooks,
  findRetries,
  type RunningWebhook,
  renewRun,
} from '#shared/features/webhooks/deliveries/runs-store.ts'
import { nextTry } from '#shared/features/webhooks/deliveries/tries.ts'
import { sendDeliveriesJob } from '#shared/features/webhooks/jobs.ts'
import { sealedPreviousSecrets, sealedSecrets } from '#shared/features/webhooks/store.ts'
import { firstRow } from '#shared/platform/db/database.ts'
import { Problem } from '#shared/platform/kernel/errors.ts'
import { toInstant } from '#shared/platform/kernel/time/instant.ts'
import { enterAsPrincipal } from '#workers/core/workspaces/enter-workspace.ts'
import { Outcomes } from '#workers/features/webhooks/outcomes.ts'
import { type Prepared, planNext, prepareDeliveries } from '#workers/features/webhooks/prepare.ts'
import type { RunCounts } from '#workers/features/webhooks/run-counts.ts'
import { sendMessage } from '#workers/features/webhooks/send.ts'

/** First tries that are prepared at once, at least and at most: as many as the receiver takes while they are fresh. */
const [minFirst, maxFirst] = [10, 80]

/** One retry is prepared for so many first tries. */
const firstPerRetry = 4

/** For how long prepared deliveries may be sent, in milliseconds: then rights, address and secrets are read again. */
const freshMs = 500

/** How often new deliveries are looked for while others are under way, in milliseconds. */
const checkEveryMs = 250

/** A run goes on for this long, in milliseconds; after it only as long as no other webhook waits for a slot. */
const sliceMs = 10_000

/** How long a run lasts that cannot say that it goes on, in milliseconds: longer than a try. */
const leaseMs = 40_000

/** The run of a webhook: it sends the deliveries that are due, in the order of their events, several at once. */
export class WebhookRun {
  readonly #scope: PlatformScope
  readonly #families: readonly EventFamily[]
  readonly #counts: RunCounts
  readonly #workspaceId: string
  readonly #runId: string
  readonly #signal: AbortSignal
  readonly #outcomes: Outcomes
  readonly #where: { readonly workspaceId: string; readonly id: string }
  /** What is under way, by the ids of deliveries. */
  readonly #sending = new Map<string, Promise<void>>()
  #webhook: RunningWebhook
  #queue: Prepared[] = []
  #amount = minFirst
  #preparedAtMs = Number.NEGATIVE_INFINITY
  #sliceEndsAtMs = performance.now() + sliceMs
  #isOver = false
  #failure: unknown

  private constructor(run: RunOptions, webhook: RunningWebhook) {
    this.#scope = run.scope
    this.#families = run.families
    this.#counts = run.counts
    this.#workspaceId = run.workspaceId
    this.#runId = run.runId
    this.#signal = run.signal
    this.#webhook = webhook
    this.#where = { workspaceId: run.workspaceId, id: webhook.id }
    this.#outcomes = new Outcomes(run.scope, run.workspaceId, webhook.id)
  }

  /** Sends what is due of a webhook, unless it is off or another run sends it. Throws the abort reason of the signal. */
  static async run(options: RunOptions): Promise<void> {
    const { scope, counts, workspaceId, webhookId: id, runId } = options
    const webhook = await firstRow(scope.db, beginRun({ workspaceId, id, runId, ...leaseOf(scope) }))
    if (!webhook) return
    const end = counts.begin(workspaceId)
    try {
      await new WebhookRun(options, webhook).#sendAll()
    } finally {
      end()
      await scope.db.query(endRun({ workspaceId, id, runId }))
    }
  }

  async #sendAll(): Promise<void> {
    try {
      while (!this.#isOver && this.#failure === undefined) {
        this.#signal.throwIfAborted()
        if (this.#sending.size >= this.#counts.triesOf(this.#workspaceId)) {
          await Promise.race(this.#sending.values())
          continue
        }
        const next = await this.#next()
        if (next) await this.#start(next)
        else if (this.#sending.size === 0) break
        else await this.#waitForMore()
      }
    } finally {
      await Promise.all(this.#sending.values())
    }
    if (this.#failure !== undefined) throw this.#failure
  }

  /** The next delivery; undefined when none is due. */
  async #next(): Promise<Prepared | undefined> {
    const isStale = performance.now() - this.#preparedAtMs > freshMs
    if (this.#queue.length === 0 || isStale) {
      this.#amount = this.#queue.length === 0 && !isStale ? Math.min(2 * this.#amount, maxFirst) : Math.max(this.#amount >> 1, minFirst)
      await this.#prepare()
    }
    return this.#queue.shift()
  }

  async #prepare(): Promise<void> {
    this.#queue = []
    if (await this.#isSliceOver()) {
      this.#isOver = true
      return
    }
    const { db } = this.#scope
    const webhook = await firstRow(db, renewRun({ ...this.#where, runId: this.#runId, ...leaseOf(this.#scope) }))
    if (!webhook) {
      this.#isOver = true
      return
    }
    this.#webhook = webhook
    try {
      const ofWebhook = { workspaceId: this.#workspaceId, webhookId: webhook.id, except: [...this.#sending.keys()] }
      const first = await db.query(findFirstTries({ ...ofWebhook, limit: this.#amount }))
      const again = await db.query(findRetries({ ...ofWebhook, limit: Math.ceil(this.#amount / firstPerRetry), now: this.#scope.now() }))
      const others = await prepareDeliveries(this.#planning, again)
      this.#preparedAtMs = performance.now()
      const prepared = first.length > 0 ? await prepareDeliveries(this.#planning, first) : await planNext(this.#planning, this.#amount)
      this.#queue = interleave(prepared, others, firstPerRetry)
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'FORBIDDEN') throw error
      await db.query(disableWebhook({ ...this.#where, now: this.#scope.now() }))
      this.#isOver = true
    }
  }

  get #planning() {
    const { db, now } = this.#scope
    const common = { families: this.#families, webhook: this.#webhook, workspaceId: this.#workspaceId, runId: this.#runId }
    return { ...common, db, now, enter: () => this.#enter() }
  }

  /** Enters the workspace with the rights of the webhook. Personal things of its maker are not for its receiver. */
  async #enter(): Promise<Scope> {
    await this.#scope.cache.refresh()
    const { service_account_id, maker_id } = this.#webhook
    return enterAsPrincipal(this.#scope, this.#workspaceId, service_account_id ?? maker_id)
  }

  async #isSliceOver(): Promise<boolean> {
    const { db, jobQueue, now } = this.#scope
    if (jobQueue.pauses.has(sendDeliveriesJob.name)) return true
    if (performance.now() < this.#sliceEndsAtMs) return false
    this.#sliceEndsAtMs = performance.now() + sliceMs
    return (await db.query(findLateWebhooks({ before: new Date(now().getTime() - 1_000) }))).length > 0
  }

  async #start({ delivery, show }: Prepared): Promise<void> {
    const made = await show()
    const work = this.#send(delivery, made)
      .catch((error: unknown) => {
        this.#failure ??= error
      })
      .finally(() => this.#sending.delete(delivery.id))
    this.#sending.set(delivery.id, work)
  }

  async #send({ id, round, tries, event_id }: Prepared['delivery'], made: Awaited<ReturnType<Prepared['show']>>): Promise<void> {
    const { now, config } = this.#scope
    const { url, secret_sealed, previous_secret_sealed } = this.#webhook
    if ('refusal' in made) {
      const attempt = { at: toInstant(now()), status: null, ms: 0, error: made.refusal }
      return this.#outcomes.save(url, { id, round, attempt, ending: 'none', status: 'failed', next: null })
    }
    const place = { workspace_id: this.#workspaceId, id: this.#webhook.id }
    const secrets = [sealedSecrets.open(config, place, secret_sealed)]
    if (previous_secret_sealed) secrets.push(sealedPreviousSecrets.open(config, place, previous_secret_sealed))
    const message = { url, id: `${event_id}:${this.#webhook.id}`, body: made.body, secrets }
    const result = await sendMessage(this.#scope, message, this.#signal)
    if (!result) {
      this.#isOver = true
      return
    }
    const { attempt, ending, retryAfter } = result
    const next = ending === 'failed' ? nextTry(tries + 1, now(), retryAfter) : undefined
    const status = ending === 'taken' ? 'delivered' : next ? 'waiting' : 'failed'
    await this.#outcomes.save(url, { id, round, attempt, ending, status, next: next ?? null })
  }

  /** Waits until something that is under way has ended, or it is time to look for new deliveries. */
  async #waitForMore(): Promise<void> {
    const checked = Promise.withResolvers<void>()
    const timer = setTimeout(checked.resolve, checkEveryMs)
    await Promise.race([checked.promise, ...this.#sending.values()])
    clearTimeout(timer)
  }
}

interface RunOptions {
  readonly scope: PlatformScope
  readonly families: readonly EventFamily[]
  readonly counts: RunCounts
  readonly workspaceId: string
  readonly webhookId: string
  /** The id of the job, under which another attempt goes on with the run. */
  readonly runId: string
  readonly signal: AbortSignal
}

/** The time of now, and that until which a run lasts. */
function leaseOf({ now }: Pick<PlatformScope, 'now'>): { readonly now: Date; readonly until: Date } {
  const time = now()
  return { now: time, until: new Date(time.getTime() + leaseMs) }
}

/** Puts one of the others after every `share` of the first. */
function interleave<T>(first: readonly T[], others: readonly T[], share: number): T[] {
  const rest = [...others]
  return [...first.flatMap((item, index) => ((index + 1) % share === 0 ? [item, ...rest.splice(0, 1)] : [item])), ...rest]
}
