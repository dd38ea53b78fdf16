import type { Context } from 'koa'
import { EventStream, type StreamEnd } from '#api/http/reply/event-stream.ts'
import type { EventReply, SharedByStreams, StreamKind } from '#api/http/reply/reply.ts'
import type { PlatformScope } from '#shared/core/scope/scope.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/** The most streams of events of each kind that a process sends at a time. Each holds a connection. */
export const maxStreams: Readonly<Record<StreamKind, number>> = { operator: 100, workspace: 2_000 }

/** Milliseconds after which a browser whose stream has ended connects again. */
const retryMs = 2_000

const headers = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-store, no-transform',
  // Proxies that read it, such as nginx, pass on each event at once.
  'X-Accel-Buffering': 'no',
}

/** Times of streams in milliseconds that tests shorten. */
export interface StreamTimes {
  readonly heartbeatMs?: number
  readonly unreadMs?: number
}

interface Watcher {
  readonly opened: (kind: StreamKind) => void
  readonly ended: (kind: StreamKind, end: StreamEnd) => void
}

/** The streams of events that a process sends. They have no end of their own, so a server that stops closes them. */
export class OpenStreams implements SharedByStreams {
  readonly #scope: PlatformScope
  readonly #shared = new Map<new (scope: PlatformScope) => unknown, unknown>()
  readonly #times: StreamTimes
  readonly #watcher: Watcher
  readonly #open = new Set<EventStream>()
  readonly #counts: Record<StreamKind, number> = { operator: 0, workspace: 0 }
  #isClosing = false

  /** `scope` is of the process. */
  constructor(scope: PlatformScope, watcher: Watcher, times: StreamTimes = {}) {
    this.#scope = scope
    this.#watcher = watcher
    this.#times = times
  }

  /** The object of a class that all streams of the process share. */
  of<T>(sharedClass: new (scope: PlatformScope) => T): T {
    const known = this.#shared.get(sharedClass) ?? new sharedClass(this.#scope)
    this.#shared.set(sharedClass, known)
    return known as T
  }

  /** Answers a request by a stream of events. Throws OVERLOADED when too many are open, and while the process stops. */
  async begin(ctx: Context, { streamKind, open }: EventReply): Promise<void> {
    this.#requireCapacity(streamKind)
    if (ctx.method === 'HEAD') ctx.body = ''
    else {
      this.#counts[streamKind] += 1
      const begin = await open(this).catch((error: unknown) => {
        this.#counts[streamKind] -= 1
        throw error
      })
      const stream = this.#openStream(streamKind)
      ctx.body = stream.body
      begin(stream)
      // The process may have begun to stop meanwhile.
      if (this.#isClosing) stream.close('stop')
    }
    ctx.status = 200
    ctx.set(headers)
  }

  /** Ends all streams, and begins no more. */
  closeAll(): void {
    this.#isClosing = true
    for (const stream of this.#open) stream.close('stop')
  }

  #requireCapacity(kind: StreamKind): void {
    if (!this.#isClosing && this.#counts[kind] < maxStreams[kind]) return
    const limit = `This server sends at most ${maxStreams[kind]} streams of events at a time, and none while it stops: try again`
    throw problem('OVERLOADED', limit, { expected: true })
  }

  #openStream(kind: StreamKind): EventStream {
    const stream = new EventStream({ retryMs, heartbeatMs: this.#times.heartbeatMs, unreadMs: this.#times.unreadMs })
    this.#open.add(stream)
    this.#watcher.opened(kind)
    stream.onClose((end) => {
      this.#open.delete(stream)
      this.#counts[kind] -= 1
      this.#watcher.ended(kind, end)
    })
    return stream
  }
}
