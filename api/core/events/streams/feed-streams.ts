import type { Credentials } from '#api/access/reenter-workspace.ts'
import { Follower } from '#api/core/events/streams/follower.ts'
import { keepPlaces, takeStreamPlace } from '#api/core/events/streams/places.ts'
import { type StreamServices, WorkspaceStreams } from '#api/core/events/streams/workspace-streams.ts'
import type { EventStream } from '#api/http/reply/event-stream.ts'
import type { EventFamily } from '#shared/core/events/event-type.ts'
import type { WantedEvents } from '#shared/core/events/read-events.ts'
import { findHeads, freePlace } from '#shared/platform/events/streams-store.ts'
import { countRefusal } from '#shared/platform/kernel/process/part.ts'
import { pauseWhenDue } from '#shared/platform/kernel/process/thread-share.ts'

/** Milliseconds between two looks at the rights of all readers: streams end within a second of them. */
const judgeMs = 500

/** Milliseconds between two looks for events that no signal told of. */
const compareMs = 1_000

/** Milliseconds between two renewals of places, a third of the time that they last. */
const renewMs = 10_000

/** A stream that is to be opened. */
interface StreamRequest {
  readonly reader: Credentials
  readonly wanted: WantedEvents
  /** The list and the number after which it begins, as the client named them. */
  readonly start: { readonly feed: string; readonly seq: number }
  /** The present list and its last number. */
  readonly present: { readonly feed: string; readonly seq: number }
}

/**
 * The streams of all workspaces in this process. It reads nothing while there are none. Each stream holds one of the places of its workspace,
 * which other processes see in the database.
 */
export class FeedStreams {
  readonly #services: StreamServices
  readonly #families: readonly EventFamily[]
  readonly #workspaces = new Map<string, WorkspaceStreams>()
  readonly #followers = new Map<string, Follower>()
  /** What failed last time: a failure is one line of the log, however often it is repeated. */
  readonly #failing = new Set<string>()
  readonly #ending = new Set<Promise<unknown>>()
  #timers: readonly NodeJS.Timeout[] = []

  constructor(services: StreamServices, families: readonly EventFamily[]) {
    this.#services = services
    this.#families = families
  }

  /** Takes a place for a stream; throws RATE_LIMITED when the workspace has none left. Call the result with the stream. */
  async open(request: StreamRequest): Promise<(stream: EventStream) => void> {
    const { workspaceId } = request.reader
    const streamId = await takeStreamPlace(this.#services, workspaceId)
    return (stream) => this.#begin(streamId, request, stream)
  }

  /** Looks for new events of workspaces that were signalled. */
  wake(workspaceIds: readonly string[]): void {
    for (const id of workspaceIds) this.#workspaces.get(id)?.wake()
  }

  /** Looks for new events of all workspaces. */
  wakeAll(): void {
    for (const workspace of this.#workspaces.values()) workspace.wake()
  }

  /** Keeps the places of all streams. A stream that lost its place, because this process could not renew it in time, is closed. */
  async renew(): Promise<void> {
    const streams = [...this.#followers]
    const workspaceIds = [...this.#workspaces.keys()]
    const kept = await keepPlaces(
      this.#services,
      workspaceIds,
      streams.map(([id]) => id),
    )
    for (const [id, { stream }] of streams) if (!kept.has(id)) stream.close('place')
  }

  /** Resolves once streams that were closed read nothing more, and their places are free. */
  async finished(): Promise<void> {
    await Promise.all(this.#ending)
  }

  #begin(streamId: string, { reader, wanted, start, present }: StreamRequest, stream: EventStream): void {
    const { workspaceId } = reader
    const follower = new Follower({ reader, wanted, feed: start.feed, seq: start.seq }, stream)
    const workspace = this.#workspaces.get(workspaceId) ?? new WorkspaceStreams(this.#services, this.#families, workspaceId, present)
    this.#workspaces.set(workspaceId, workspace)
    this.#followers.set(streamId, follower)
    if (this.#timers.length === 0) this.#startTimers()
    stream.onClose(() => this.#end(streamId, follower, workspace))
    workspace.add(follower)
  }

  #end(streamId: string, follower: Follower, workspace: WorkspaceStreams): void {
    const { workspaceId } = follower.reader
    workspace.delete(follower)
    this.#followers.delete(streamId)
    if (workspace.size === 0 && this.#workspaces.get(workspaceId) === workspace) this.#workspaces.delete(workspaceId)
    if (this.#followers.size === 0) this.#stopTimers()
    // A place that cannot be freed now expires.
    const free = () => this.#services.database.query(freePlace({ workspaceId, streamId }))
    const finished = Promise.all([this.#attempt(free, 'could not free the place of a stream'), workspace.finished()])
    this.#ending.add(finished)
    void finished.then(() => this.#ending.delete(finished))
  }

  #startTimers(): void {
    this.#timers = [
      this.#repeat(judgeMs, () => this.#judge(), 'could not read the rights of streams'),
      this.#repeat(compareMs, () => this.#compare(), 'could not look for events of streams'),
      this.#repeat(renewMs, () => this.renew(), 'could not renew the places of streams'),
    ]
  }

  #stopTimers(): void {
    for (const timer of this.#timers) clearInterval(timer)
    this.#timers = []
  }

  #repeat(everyMs: number, work: () => Promise<void>, failure: string): NodeJS.Timeout {
    let isBusy = false
    const run = async () => {
      if (isBusy) return
      isBusy = true
      await this.#attempt(work, failure)
      isBusy = false
    }
    return setInterval(() => void run(), everyMs).unref()
  }

  async #attempt(work: () => Promise<unknown>, failure: string): Promise<void> {
    try {
      await work()
      this.#failing.delete(failure)
    } catch (error) {
      if (!countRefusal(error) && !this.#failing.has(failure)) this.#services.log.warn({ err: error }, failure)
      this.#failing.add(failure)
    }
  }

  async #judge(): Promise<void> {
    await this.#services.cache.refresh()
    for (const workspace of [...this.#workspaces.values()]) {
      await workspace.closeEnded()
      await pauseWhenDue(null)
    }
  }

  async #compare(): Promise<void> {
    const heads = await this.#services.database.query(findHeads({ workspaceIds: [...this.#workspaces.keys()] }))
    for (const { workspaceId, feed, lastSeq } of heads) this.#workspaces.get(workspaceId)?.compare(feed, lastSeq)
  }
}
