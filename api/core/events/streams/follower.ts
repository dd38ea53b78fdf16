import type { Credentials } from '#api/access/reenter-workspace.ts'
import { type EventStream, eventBytes } from '#api/http/reply/event-stream.ts'
import type { WantedEvents } from '#shared/core/events/read-events.ts'
import type { WorkspaceEvent } from '#shared/core/events/schemas.ts'
import type { Feed, StoredEvent } from '#shared/platform/events/feed-store.ts'

/** The most bytes that wait for a reader. One for whom more would wait is cut. */
const maxWaitingBytes = 16_777_216

interface Start {
  readonly reader: Credentials
  readonly wanted: WantedEvents
  /** The list and the number after which the stream goes on; neither need exist. */
  readonly feed: string
  readonly seq: number
}

/** An event that a stream sends: its number, its id in the stream, and its bytes. */
export const streamEvent = (feed: string, event: WorkspaceEvent): Buffer =>
  eventBytes({ id: `${feed}:${event.seq}`, event: event.type, data: event })

/** One stream of a workspace's events, and how far it has come. */
export class Follower {
  readonly reader: Credentials
  readonly wanted: WantedEvents
  readonly stream: EventStream
  readonly #types: ReadonlySet<string> | null
  #feed: string
  #seq: number
  /** Bytes of events above `seq` that were not put into the stream, because it was full. */
  #missedBytes = 0

  constructor({ reader, wanted, feed, seq }: Start, stream: EventStream) {
    this.reader = reader
    this.wanted = wanted
    this.stream = stream
    this.#types = wanted.types && new Set(wanted.types)
    this.#feed = feed
    this.#seq = seq
    stream.heartbeat = () => eventBytes({ id: this.id, event: 'seen', data: {} })
  }

  get feed(): string {
    return this.#feed
  }

  /** The number up to which the reader was sent everything that it wants and may read. */
  get seq(): number {
    return this.#seq
  }

  get id(): string {
    return `${this.#feed}:${this.#seq}`
  }

  /** Whether it is at a place of a list. */
  isAt(feed: string, seq: number): boolean {
    return this.#seq === seq && this.#feed === feed
  }

  /** Whether it may want a stored event: what an event is about is known once it is shown. */
  mayWant({ type, topic }: StoredEvent): boolean {
    return this.#types?.has(type) !== false && (this.wanted.objectType === null || this.wanted.objectType === topic)
  }

  /** Whether it wants a shown event that it may want. */
  wants({ subject }: WorkspaceEvent): boolean {
    return this.wanted.objectType === null || (subject as { object_type?: unknown }).object_type === this.wanted.objectType
  }

  /**
   * Goes on to a number of its list, with the event of the number, or without one where the reader wants or sees none. An event that does not
   * come next, or finds the stream full, is read again later. Returns whether the event was sent.
   */
  advance(seq: number, bytes: Buffer | undefined): boolean {
    if (this.#seq >= seq) return false
    const isNext = this.#seq === seq - 1
    const isMissed = bytes !== undefined && this.stream.isFull
    if (isMissed) this.#miss(bytes.length)
    if (!isNext || isMissed) return false
    this.#seq = seq
    this.#missedBytes = 0
    if (bytes) this.stream.send(bytes)
    return bytes !== undefined
  }

  /** Takes events that were read for it alone, up to a number. */
  catchUp(events: readonly WorkspaceEvent[], upTo: number): void {
    for (const event of events) {
      const bytes = streamEvent(this.#feed, event)
      this.#missedBytes = Math.max(0, this.#missedBytes - bytes.length)
      this.stream.send(bytes)
    }
    this.#seq = upTo
  }

  /** Tells the reader that it missed events, or is in no present list, and goes on after the last event of this one. */
  resync({ feed, lastSeq, oldestSeq }: Feed): void {
    this.#feed = feed
    this.#seq = lastSeq
    this.#missedBytes = 0
    this.stream.send({ id: this.id, event: 'resync', data: { oldest_seq: oldestSeq } })
  }

  #miss(bytes: number): void {
    this.#missedBytes += bytes
    if (this.stream.waitingBytes + this.#missedBytes > maxWaitingBytes) this.stream.close('backlog')
  }
}
