import { reenterWorkspace } from '#api/access/reenter-workspace.ts'
import { sentEvents } from '#api/core/events/metrics.ts'
import { type Follower, streamEvent } from '#api/core/events/streams/follower.ts'
import type { EventFamily } from '#shared/core/events/event-type.ts'
import { positionProblem } from '#shared/core/events/positions.ts'
import { readSpan, requireFeed } from '#shared/core/events/read-events.ts'
import { type ShowWhole, shareEvents } from '#shared/core/events/show-all.ts'
import type { Scope, Services } from '#shared/core/scope/scope.ts'
import type { Database, Executor } from '#shared/platform/db/database.ts'
import { findEvents, type StoredEvent } from '#shared/platform/events/feed-store.ts'
import { type ComputeBudget, computeBudget } from '#shared/platform/kernel/process/compute-budget.ts'
import { countRefusal } from '#shared/platform/kernel/process/part.ts'

/** New events that are read at once, for all streams of the workspace. */
const chunk = 250

/** What is read at once for a stream that is behind: events that are looked at, and bytes of those that it gets. */
const [behindExamined, behindBytes] = [1_000, 262_144]

export type StreamServices = Services & { readonly database: Database }

/** A person or key that reads, with the rights of now, and its streams. */
interface Audience {
  readonly scope: Scope
  readonly followers: Follower[]
}

/**
 * The streams of one workspace in this process. New events are read once for all of them and masked once for each reader. What streams that
 * are behind lack is read for each of them. Events are read first and rights afterwards: a right that was taken before an event was
 * numbered is therefore known when the event is masked.
 */
export class WorkspaceStreams {
  readonly #services: StreamServices
  readonly #families: readonly EventFamily[]
  readonly #workspaceId: string
  readonly #followers = new Set<Follower>()
  /** Counts for the workspace; once a reader's rights were read, also for the share of its owner. */
  #db: Executor
  #feed: string
  /** The number up to which the workspace's events were read. */
  #seq: number
  #running: Promise<void> | undefined
  #isWoken = false
  #isFailing = false

  constructor(services: StreamServices, families: readonly EventFamily[], workspaceId: string, at: { feed: string; seq: number }) {
    this.#services = services
    this.#families = families
    this.#workspaceId = workspaceId
    this.#db = services.database.forWorkspace(workspaceId)
    this.#feed = at.feed
    this.#seq = at.seq
  }

  get size(): number {
    return this.#followers.size
  }

  add(follower: Follower): void {
    this.#followers.add(follower)
    follower.stream.onTaken = () => {
      if (!this.#isLive(follower)) this.wake()
    }
    this.wake()
  }

  delete(follower: Follower): void {
    this.#followers.delete(follower)
  }

  /** Looks for new events, unless it does so; then it looks once more. */
  wake(): void {
    this.#isWoken = true
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
      if (this.#isWoken && this.size > 0 && !this.#isFailing) this.wake()
    })
  }

  /** Compares with the list as it is now, and wakes when there is more. A list that was renewed is followed from its last number. */
  compare(feed: string, lastSeq: number): void {
    if (feed !== this.#feed) {
      this.#feed = feed
      this.#seq = lastSeq
    }
    const isBehind = (follower: Follower) => !this.#isLive(follower) && !follower.stream.isFull
    if (lastSeq > this.#seq || [...this.#followers].some(isBehind)) this.wake()
  }

  /** Closes the streams of readers whose rights have ended. The cache must have been refreshed. */
  async closeEnded(): Promise<void> {
    await this.#findAudiences()
  }

  /** Resolves when nothing is read or sent any more. */
  async finished(): Promise<void> {
    await this.#running
  }

  #isLive(follower: Follower): boolean {
    return follower.isAt(this.#feed, this.#seq)
  }

  async #run(): Promise<void> {
    try {
      while (this.#isWoken && this.size > 0) {
        this.#isWoken = false
        await this.#step()
      }
      this.#isFailing = false
    } catch (error) {
      // The next signal or poll tries again.
      if (!countRefusal(error) && !this.#isFailing) this.#services.log.warn({ err: error }, 'could not read events for their streams')
      this.#isFailing = true
    }
  }

  async #step(): Promise<void> {
    const { cache } = this.#services
    const events = await this.#db.query(
      findEvents({ workspaceId: this.#workspaceId, after: this.#seq, upTo: this.#seq + chunk, types: null, objectType: null }),
    )
    await cache.refresh()
    const audiences = await this.#findAudiences()
    this.#db = audiences[0]?.scope.db ?? this.#db
    await this.#deliver(events, audiences)
    if (events.length === chunk) this.#isWoken = true
    for (const { scope, followers } of audiences) for (const follower of followers) await this.#catchUp(follower, scope)
  }

  /** The readers of all streams with their rights. Streams of those who have none any more are closed. */
  async #findAudiences(): Promise<Audience[]> {
    const audiences = new Map<string, Audience>()
    for (const follower of [...this.#followers]) {
      const scope = await reenterWorkspace(this.#services, follower.reader)
      if (!scope?.principal) {
        this.#followers.delete(follower)
        follower.stream.close('rights')
        continue
      }
      const audience = audiences.get(scope.principal.id) ?? { scope, followers: [] }
      audience.followers.push(follower)
      audiences.set(scope.principal.id, audience)
    }
    return [...audiences.values()]
  }

  /** Shows new events to their readers, and puts them into the streams that have come up to them. */
  async #deliver(events: readonly StoredEvent[], audiences: readonly Audience[]): Promise<void> {
    const [first] = events
    const [one] = audiences
    if (!first || !one) return
    // Events between were deleted as too old. The streams are behind then, and are told so.
    if (first.seq !== this.#seq + 1) this.#seq = first.seq - 1
    const feed = this.#feed
    const budget = computeBudget(one.scope.db.owner, { steps: Number.POSITIVE_INFINITY, bound: '' })
    const prepareFor = shareEvents(one.scope, this.#families, events)
    const shows = new Map<Audience, ShowWhole>()
    for (const audience of audiences) {
      if (events.some((event) => wanting(audience, event).length > 0)) shows.set(audience, await prepareFor(audience.scope))
    }
    for (const event of events) {
      for (const audience of audiences) await this.#deliverTo(audience, event, shows.get(audience), budget)
      // The list was renewed meanwhile.
      if (this.#feed !== feed) return
      this.#seq = event.seq
    }
  }

  async #deliverTo({ followers }: Audience, stored: StoredEvent, show: ShowWhole | undefined, budget: ComputeBudget): Promise<void> {
    const feed = this.#feed
    const wanted = followers.filter((follower) => follower.mayWant(stored))
    await budget.pause()
    const event = wanted.length > 0 ? await show?.(stored) : undefined
    const bytes = event && streamEvent(feed, event)
    for (const follower of followers) {
      if (follower.feed !== feed) continue
      const isFor = event !== undefined && wanted.includes(follower) && follower.wants(event)
      if (follower.advance(stored.seq, isFor ? bytes : undefined)) sentEvents.inc()
    }
  }

  /** Sends a stream that is behind the next events up to the number that the others have reached. */
  async #catchUp(follower: Follower, scope: Scope): Promise<void> {
    if (this.#isLive(follower) || !follower.stream.isOpen || follower.stream.isFull) return
    const { seq, wanted } = follower
    const upTo = Math.max(seq, Math.min(this.#seq, seq + behindExamined))
    const span = { after: seq, upTo, limit: behindExamined, maxBytes: behindBytes }
    const { events, at } = await readSpan(scope, this.#families, wanted, span)
    // Read after the events, so that none between were deleted unseen.
    const feed = await requireFeed(scope)
    if (positionProblem(feed, follower) !== undefined) follower.resync(feed)
    else {
      follower.catchUp(events, at)
      sentEvents.inc(events.length)
    }
    if (follower.seq < this.#seq && !follower.stream.isFull) this.#isWoken = true
  }
}

const wanting = ({ followers }: Audience, event: StoredEvent): Follower[] => followers.filter((follower) => follower.mayWant(event))
