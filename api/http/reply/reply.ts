import type { Readable } from 'node:stream'

/** The bytes of an answer; a stream is opened when it is sent, so that an answer that is thrown away has opened nothing. */
export type ReplyBody = Buffer | string | null | (() => Readable | Promise<Readable>)

/**
 * What a handler gives back where the answer is no `{data}`: bytes with headers of their own, and a status where it is not the declared one,
 * such as 206, 303, 304 or 416, which `statuses` of the declaration then names.
 */
export class Reply {
  readonly body: ReplyBody
  readonly headers: Readonly<Record<string, string>>
  readonly status: number | undefined

  constructor(body: ReplyBody, headers: Readonly<Record<string, string>>, status?: number) {
    this.body = body
    this.headers = headers
    this.status = status
  }
}

/** What a handler gives back when it replaced what was there, on a route that creates: answered with 200 (decisions, Create / replace). */
export class Replaced<T> {
  readonly data: T

  constructor(data: T) {
    this.data = data
  }
}

/** What a handler gives back with the ETag of what it answers. */
export class WithETag<T> {
  readonly data: T
  readonly etag: string

  constructor(data: T, etag: string) {
    this.data = data
    this.etag = etag
  }
}

/** What a handler gives back with headers beside it, such as how long it may be kept. */
export class WithHeaders<T> {
  readonly data: T
  readonly headers: Readonly<Record<string, string>>

  constructor(data: T, headers: Readonly<Record<string, string>>) {
    this.data = data
    this.headers = headers
  }
}
