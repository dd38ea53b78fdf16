import { Readable } from 'node:stream'

/** Milliseconds for which a client may leave what was sent untaken. */
const defaultUnreadMs = 30_000

/** Milliseconds without an event after which a comment is sent: proxies close connections that are silent for a minute. */
const defaultHeartbeatMs = 15_000

/** An event, as browsers read it with `EventSource`. */
interface ServerEvent {
  /** A client that connects again sends the last one as `Last-Event-ID`. One line. */
  readonly id?: string
  /** The name that listeners of the client choose events by. One line. */
  readonly event: string
  /** Sent as JSON. */
  readonly data: unknown
}

interface EventStreamOptions {
  /** Milliseconds after which a client whose stream has ended connects again. */
  readonly retryMs: number
  readonly heartbeatMs?: number
  readonly unreadMs?: number
}

/**
 * The body of an answer of server-sent events. Nothing piles up for a client that does not read: it gets no event until it has taken the one
 * before, and its connection is cut after `unreadMs`.
 */
export class EventStream {
  readonly body: Readable
  readonly #unreadMs: number
  readonly #heartbeatMs: number
  readonly #timer: NodeJS.Timeout
  #takenAt = performance.now()
  #sentAt = performance.now()

  constructor({ retryMs, heartbeatMs = defaultHeartbeatMs, unreadMs = defaultUnreadMs }: EventStreamOptions) {
    this.#unreadMs = unreadMs
    this.#heartbeatMs = heartbeatMs
    this.body = new Readable({ read: () => undefined })
    this.body.push(`retry: ${retryMs}\n\n`)
    this.#timer = setInterval(() => this.#check(), Math.min(heartbeatMs, unreadMs) / 2).unref()
    this.body.once('close', () => clearInterval(this.#timer))
  }

  /** Sends an event, unless the client has not taken the one before. Returns whether it was sent. */
  send({ id, event, data }: ServerEvent): boolean {
    return this.#write(`${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
  }

  /** Ends the answer. */
  close(): void {
    clearInterval(this.#timer)
    if (this.body.destroyed || this.body.readableEnded) return
    // What is left untaken must not keep the connection open.
    if (this.#isTaken()) this.body.push(null)
    else this.body.destroy()
  }

  /** Calls `then` once the answer has ended or its client has gone. */
  onClose(then: () => void): void {
    this.body.once('close', then)
  }

  #isTaken(): boolean {
    if (this.body.readableLength > 0) return false
    this.#takenAt = performance.now()
    return true
  }

  #write(text: string): boolean {
    if (this.body.destroyed || !this.#isTaken()) return false
    this.#sentAt = performance.now()
    this.body.push(text)
    return true
  }

  #check(): void {
    const now = performance.now()
    if (!this.#isTaken() && now - this.#takenAt >= this.#unreadMs) this.body.destroy()
    else if (now - this.#sentAt >= this.#heartbeatMs) this.#write(':\n\n')
  }
}
