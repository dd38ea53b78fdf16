import type { Readable } from 'node:stream'
import { create } from 'content-disposition'
import { readRange } from '#api/http/reply/byte-range.ts'
import { isNotModified } from '#api/http/reply/conditions.ts'
import { Reply } from '#api/http/reply/reply.ts'
import type { ByteRange } from '#shared/platform/blobs/byte-store.ts'

/** A file as it is sent. */
export interface SentFile {
  readonly name: string
  readonly size: number
  readonly type: string
  /** SHA-256 of its bytes: the strong validator of this version. */
  readonly sha256: string
  readonly changedAt: Date
  /** Whether a browser shows it; otherwise it is saved. */
  readonly isInline: boolean
  /** Sent beside those that every file has. */
  readonly headers: Readonly<Record<string, string>>
  readonly open: (range?: ByteRange) => Promise<Readable>
}

/** What of a request decides what is sent of a file. */
export interface FileRequest {
  readonly header: (name: string) => string
}

/**
 * Answers a file: whole, a part of it, or that the caller has it already (document 3, Drive; decisions, Drive). Throws PRECONDITION_FAILED
 * like `isUnchanged`.
 */
export function fileReply(request: FileRequest, file: SentFile): Reply {
  const etag = `"${file.sha256}"`
  const known = { ETag: etag, 'Last-Modified': file.changedAt.toUTCString(), 'Accept-Ranges': 'bytes', ...file.headers }
  if (isNotModified(request.header, { etag, changedAt: file.changedAt })) return new Reply(null, known, 304)
  const headers = { ...known, 'Content-Type': file.type, 'Content-Disposition': dispositionOf(file), 'X-Content-Type-Options': 'nosniff' }
  const whole = () => new Reply(() => file.open(), { ...headers, 'Content-Length': String(file.size) })
  const asked = request.header('range')
  const condition = request.header('if-range')
  if (asked === '' || (condition !== '' && condition.trim() !== etag)) return whole()
  const range = readRange(asked, file.size)
  if (range === undefined) return whole()
  if (range === null) return new Reply(null, { ...known, 'Content-Range': `bytes */${file.size}` }, 416)
  const { start, end } = range
  const part = { 'Content-Range': `bytes ${start}-${end}/${file.size}`, 'Content-Length': String(end - start + 1) }
  return new Reply(() => file.open(range), { ...headers, ...part }, 206)
}

/** The name in every script, without letters that would turn the reading direction of what stands around it. */
const dispositionOf = ({ name, isInline }: SentFile): string =>
  create(name.toWellFormed().replaceAll(/[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/g, ''), {
    type: isInline ? 'inline' : 'attachment',
  })
