import type { Context } from 'koa'
import { EventStream } from '#api/http/reply/event-stream.ts'
import type { EventReply, SharedByStreams } from '#api/http/reply/reply.ts'
import type { PlatformScope } from '#shared/core/scope/scope.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/** The most streams of events that a process sends at a time. Each holds a connection. */
export const maxStreams = 100

/** Milliseconds after which a browser whose stream has ended connects again. */
const retryMs = 2_000

const headers = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-store, no-transform',
  // Proxies that read it, such as nginx, pass on each event at once.
  'X-Accel-Buffering': 'no',
}

/** The streams of events that a process sends. They have no end of their own, so a server that stops closes them. */
export class OpenStreams implements SharedByStreams {
  readonly #scope: PlatformScope
  readonly #shared = new Map<new (scope: PlatformScope) => unknown, unknown>()
  readonly #open = new Set<EventStream>()
  #isClosing = false

  /** `scope` is of the process. */
  constructor(scope: PlatformScope) {
    this.#scope = scope
  }

  /** The object of a class that all streams of the process share. */
  of<T>(sharedClass: new (scope: PlatformScope) => T): T {
    const known = this.#shared.get(sharedClass) ?? new sharedClass(this.#scope)
    this.#shared.set(sharedClass, known)
    return known as T
  }

  /** Answers a request by a stream of events. Throws OVERLOADED when too many are open, and while the process stops. */
  begin(ctx: Context, { begin }: EventReply): void {
    if (this.#isClosing || this.#open.size >= maxStreams) {
      const limit = `This server sends at most ${maxStreams} streams of events at a time, and none while it stops: try again`
      throw problem('OVERLOADED', limit, { expected: true })
    }
    ctx.status = 200
    if (ctx.method === 'HEAD') ctx.body = ''
    else {
      const stream = new EventStream({ retryMs })
      this.#open.add(stream)
      stream.onClose(() => this.#open.delete(stream))
      ctx.body = stream.body
      begin(stream, this)
    }
    ctx.set(headers)
  }

  /** Ends all streams, and begins no more. */
  closeAll(): void {
    this.#isClosing = true
    for (const stream of this.#open) stream.close()
  }
}
