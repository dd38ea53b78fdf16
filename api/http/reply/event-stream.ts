import { Readable } from 'node:stream'

/** Milliseconds for which a client may leave what was sent untaken. */
const defaultUnreadMs = 30_000

/** Milliseconds without an event after which a heartbeat is sent: proxies close connections that are silent for a minute. */
const defaultHeartbeatMs = 15_000

/** Bytes that are handed to the connection at a time: a client that takes a long event slowly is seen to take some of it. */
const pieceBytes = 65_536

/** Bytes that wait for a client from which on its stream is full. */
const fullBytes = 262_144

/** An event, as browsers read it with `EventSource`. */
interface ServerEvent {
  /** A client that connects again sends the last one as `Last-Event-ID`. One line. */
  readonly id?: string
  /** The name that listeners of the client choose events by. One line. */
  readonly event: string
  /** Sent as JSON. */
  readonly data: unknown
}

/** An event as it is sent; streams of several clients may share its bytes. */
export const eventBytes = ({ id, event, data }: ServerEvent): Buffer =>
  Buffer.from(`${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)

/**
 * Why a stream ended: its client went, took nothing for too long or had too much waiting for it, the rights ended, the place among the
 * streams of the workspace was lost, or the server stops.
 */
export type StreamEnd = 'client' | 'unread' | 'backlog' | 'rights' | 'place' | 'stop'

interface EventStreamOptions {
  /** Milliseconds after which a client whose stream has ended connects again. */
  readonly retryMs: number
  readonly heartbeatMs?: number | undefined
  readonly unreadMs?: number | undefined
}

/** The body of an answer of server-sent events. The connection of a client that takes nothing for `unreadMs` is cut. */
export class EventStream {
  readonly body: Readable
  /** What is sent after `heartbeatMs` without an event; a comment by default. */
  heartbeat: () => Buffer | string = () => ':\n\n'
  /** Called when the client has taken so much that the stream is not full any more. */
  onTaken: () => void = () => undefined
  readonly #unreadMs: number
  readonly #heartbeatMs: number
  readonly #timer: NodeJS.Timeout
  #pushedBytes = 0
  #takenBytes = 0
  #takenAt = performance.now()
  #sentAt = performance.now()
  #end: StreamEnd = 'client'

  constructor({ retryMs, heartbeatMs = defaultHeartbeatMs, unreadMs = defaultUnreadMs }: EventStreamOptions) {
    this.#unreadMs = unreadMs
    this.#heartbeatMs = heartbeatMs
    this.body = new Readable({ highWaterMark: fullBytes, read: () => this.onTaken() })
    this.#push(Buffer.from(`retry: ${retryMs}\n\n`))
    this.#timer = setInterval(() => this.#check(), Math.min(heartbeatMs, unreadMs) / 2).unref()
    this.body.once('close', () => clearInterval(this.#timer))
  }

  /** Bytes that the client has not taken. */
  get waitingBytes(): number {
    return this.body.readableLength
  }

  get isFull(): boolean {
    return this.body.readableLength >= fullBytes
  }

  get isOpen(): boolean {
    return !this.body.destroyed && !this.body.readableEnded
  }

  send(event: Buffer | ServerEvent): void {
    if (!this.isOpen) return
    this.#sentAt = performance.now()
    this.#push(Buffer.isBuffer(event) ? event : eventBytes(event))
  }

  /** Ends the answer. */
  close(end: StreamEnd): void {
    clearInterval(this.#timer)
    if (!this.isOpen) return
    this.#end = end
    // What is left untaken must not keep the connection open.
    if (this.waitingBytes === 0) this.body.push(null)
    else this.body.destroy()
  }

  /** Calls `then` once the answer has ended or its client has gone. */
  onClose(then: (end: StreamEnd) => void): void {
    this.body.once('close', () => then(this.#end))
  }

  #push(bytes: Buffer): void {
    this.#pushedBytes += bytes.length
    for (let at = 0; at < bytes.length; at += pieceBytes) this.body.push(bytes.subarray(at, at + pieceBytes))
  }

  #check(): void {
    const now = performance.now()
    const takenBytes = this.#pushedBytes - this.waitingBytes
    if (takenBytes > this.#takenBytes || this.waitingBytes === 0) this.#takenAt = now
    this.#takenBytes = takenBytes
    if (now - this.#takenAt >= this.#unreadMs) this.close('unread')
    else if (this.waitingBytes === 0 && now - this.#sentAt >= this.#heartbeatMs) {
      this.#sentAt = now
      this.#push(Buffer.from(this.heartbeat()))
    }
  }
}
