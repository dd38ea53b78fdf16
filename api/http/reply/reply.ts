import type { Readable } from 'node:stream'
import type { EventStream } from '#api/http/reply/event-stream.ts'
import type { PlatformScope } from '#shared/core/scope/scope.ts'

/** The bytes of an answer, whole, as pieces, or as a stream, which is opened only when it is sent. */
type ReplyBody = Buffer | readonly Buffer[] | string | null | (() => Readable | Promise<Readable>)

/**
 * An answer of a handler that is not `{data}`: bytes with their headers, and a status if it is not the declared one, such as 206, 303, 304 or
 * 416. The declaration lists these in `statuses`.
 */
export class Reply {
  readonly body: ReplyBody
  readonly headers: Readonly<Record<string, string>>
  readonly status: number | undefined
  /** Whether its bytes are kept for all callers, so that one that waits to be sent takes no memory. */
  readonly isKept: boolean

  constructor(body: ReplyBody, headers: Readonly<Record<string, string>>, status?: number, isKept = false) {
    this.body = body
    this.headers = headers
    this.status = status
    this.isKept = isKept
  }
}

/** What the streams of a process share: an object of a class, which has a scope of the process, not that of the request which came first. */
export interface SharedByStreams {
  readonly of: <T>(sharedClass: new (scope: PlatformScope) => T) => T
}

/** Whose streams a process counts together: those of operators, and those of workspaces. */
export type StreamKind = 'operator' | 'workspace'

/** An answer of server-sent events. */
export class EventReply extends Reply {
  readonly streamKind: StreamKind
  /**
   * Called once, before the answer begins, and not for HEAD: it may still refuse. What it returns is called with the stream, on which it
   * sends events until the stream closes.
   */
  readonly open: (shared: SharedByStreams) => Promise<(stream: EventStream) => void>

  constructor(streamKind: StreamKind, open: (shared: SharedByStreams) => Promise<(stream: EventStream) => void>) {
    super(null, {})
    this.streamKind = streamKind
    this.open = open
  }
}

/** The result of a creating route that replaced an existing resource: answered with 200 (docs/contract/conventions.md#success-statuses). */
export class Replaced<T> {
  readonly data: T

  constructor(data: T) {
    this.data = data
  }
}

/** A result with its ETag. */
export class WithETag<T> {
  readonly data: T
  readonly etag: string

  constructor(data: T, etag: string) {
    this.data = data
    this.etag = etag
  }
}

/** A result with headers, such as Cache-Control. */
export class WithHeaders<T> {
  readonly data: T
  readonly headers: Readonly<Record<string, string>>

  constructor(data: T, headers: Readonly<Record<string, string>>) {
    this.data = data
    this.headers = headers
  }
}
